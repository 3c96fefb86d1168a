//===- hash.h - Hashes of text, names and keys ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What readers, compiler, tables and servers must hash alike. Nothing here
// allocates.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_HASH_H
#define PDLABI_HASH_H

#include <cstddef>
#include <cstdint>
#include <string_view>

// Inlined, so that a compiled program needs no xxhash library.
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace pdlabi {

// Crosses hash keys as they stand in memory.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "a cross hashes little-endian keys");

/// xxh64 of a text. A field's ids: its trimmed bytes as written, seed = salt.
inline uint64_t hashText(std::string_view text, uint64_t seed) {
  return XXH64(text.data(), text.size(), seed);
}

/// The id of a symbol, `pdl_symbol::id`: it depends on the name only, so that
/// other symbols may come and go.
inline uint64_t symbolId(std::string_view name) { return hashText(name, 0); }

/// The cross of `count` keys: xxh64 of their little-endian bytes, first key
/// first, seed = salt.
inline int64_t crossKeys(const int64_t *keys, size_t count, uint64_t salt) {
  return static_cast<int64_t>(XXH64(keys, count * sizeof(int64_t), salt));
}

inline constexpr uint64_t firstKeyFactor = 0x9e3779b97f4a7c15ull;
inline constexpr uint64_t secondKeyFactor = 0xc2b2ae3d27d4eb4full;

/// Spreads a key over all 64 bits, one to one: ids that come in sequence or
/// share their low bits differ in about half of the bits afterwards.
inline uint64_t mixKey(uint64_t key) {
  key ^= key >> 32;
  key *= firstKeyFactor;
  key ^= key >> 29;
  key *= secondKeyFactor;
  return key ^ (key >> 32);
}

/// The inverse of an odd number, modulo 2^64.
constexpr uint64_t inverseOf(uint64_t odd) {
  // Newton: each round doubles the bits that are right, 3 to begin with.
  uint64_t inverse = odd;
  for (int round = 0; round < 5; ++round)
    inverse *= 2 - odd * inverse;
  return inverse;
}

/// The key that `mixKey` made that of.
inline uint64_t unmixKey(uint64_t mixed) {
  constexpr uint64_t first = inverseOf(firstKeyFactor);
  constexpr uint64_t second = inverseOf(secondKeyFactor);
  mixed ^= mixed >> 32;
  mixed *= second;
  mixed ^= mixed >> 29 ^ mixed >> 58;
  mixed *= first;
  return mixed ^ (mixed >> 32);
}

/// The number of logical shards of every table, from the first day.
inline constexpr int logicalShardCount = 1024;

/// The logical shard of a key that was mixed already: its top 10 bits.
inline int shardOfMixedKey(uint64_t mixed) {
  return static_cast<int>(mixed >> 54);
}

/// The logical shard of a key, in [0, logicalShardCount).
inline int shardOfKey(int64_t key) {
  return shardOfMixedKey(mixKey(static_cast<uint64_t>(key)));
}

} // namespace pdlabi

#endif // PDLABI_HASH_H
