//===- hash.h - Hashes of texts, names and keys -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hash functions that must be equal in readers, compiler, tables and servers.
// No function allocates memory.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_HASH_H
#define PDLABI_HASH_H

#include <cstddef>
#include <cstdint>
#include <string_view>

// Inlined, so that a compiled program does not need an xxhash library.
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace pdlabi {

// Crosses hash keys in their memory representation.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "a cross hashes little-endian keys");

/// Returns xxh64 of a text. The key of an id is the hash of its trimmed text,
/// with the salt of the field as seed.
inline uint64_t hashText(std::string_view text, uint64_t seed) {
  return XXH64(text.data(), text.size(), seed);
}

/// Returns the id of a symbol (`pdl_symbol::id`). It depends only on the name,
/// so it does not change if other symbols are added or removed.
inline uint64_t symbolId(std::string_view name) { return hashText(name, 0); }

/// Returns the feature cross of `count` keys: xxh64 of their little-endian
/// bytes, in order, with the salt as seed.
inline int64_t crossKeys(const int64_t *keys, size_t count, uint64_t salt) {
  return static_cast<int64_t>(XXH64(keys, count * sizeof(int64_t), salt));
}

inline constexpr uint64_t firstKeyFactor = 0x9e3779b97f4a7c15ull;
inline constexpr uint64_t secondKeyFactor = 0xc2b2ae3d27d4eb4full;

/// Returns a mixed key, in which each bit of the key affects all 64 bits. The
/// function is one-to-one. If two keys are consecutive numbers, or have equal
/// low bits, their mixed keys differ in about half of the bits.
inline uint64_t mixKey(uint64_t key) {
  key ^= key >> 32;
  key *= firstKeyFactor;
  key ^= key >> 29;
  key *= secondKeyFactor;
  return key ^ (key >> 32);
}

/// Returns the inverse of an odd number, modulo 2^64.
constexpr uint64_t inverseOf(uint64_t odd) {
  // Newton's method: each round doubles the number of correct bits, initially
  // 3.
  uint64_t inverse = odd;
  for (int round = 0; round < 5; ++round)
    inverse *= 2 - odd * inverse;
  return inverse;
}

/// Returns the key for which `mixKey` returned `mixed`.
inline uint64_t unmixKey(uint64_t mixed) {
  constexpr uint64_t first = inverseOf(firstKeyFactor);
  constexpr uint64_t second = inverseOf(secondKeyFactor);
  mixed ^= mixed >> 32;
  mixed *= second;
  mixed ^= mixed >> 29 ^ mixed >> 58;
  mixed *= first;
  return mixed ^ (mixed >> 32);
}

/// The number of logical shards of every table. It never changes.
inline constexpr int logicalShardCount = 1024;

/// Returns the logical shard of a mixed key: its highest 10 bits.
inline int shardOfMixedKey(uint64_t mixed) {
  return static_cast<int>(mixed >> 54);
}

/// Returns the logical shard of a key, in [0, logicalShardCount).
inline int shardOfKey(int64_t key) {
  return shardOfMixedKey(mixKey(static_cast<uint64_t>(key)));
}

} // namespace pdlabi

#endif // PDLABI_HASH_H
