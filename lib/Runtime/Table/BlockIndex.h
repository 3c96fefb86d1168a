//===- BlockIndex.h - From keys to blocks of rows ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which of a shard's blocks (SpilledShard.h) has the row of a key, in four
// bytes a key: some 6 with the places that are free. Keys themselves stand in
// the blocks. Of a mixed key the index knows 26 bits, so it may name a block
// that has another key; who reads the block sees that.
//
// A line is one cache line of 15 entries. Where an entry stands gives the upper
// of its 26 bits, and so many more bits as the entry has for the number of its
// block: the more keys, the more blocks. An entry stands in the line that its
// bits choose or up to 15 behind it, and says how many.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_BLOCKINDEX_H
#define LIB_RUNTIME_TABLE_BLOCKINDEX_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>
#include <vector>

namespace pdlrt {

/// The keys of one shard. All keys are mixed (pdlabi::mixKey). Not thread-safe.
class BlockIndex {
public:
  uint64_t size() const { return keyCount; }

  /// Starts loading the line in which a search begins.
  void prefetch(uint64_t mixed) const {
    if (!lines.empty())
      __builtin_prefetch(&lines[homeOf(hashOf(mixed))]);
  }

  /// Calls visit(block) for each block that may have the key.
  template <typename Visit> void find(uint64_t mixed, Visit visit) const {
    if (lines.empty())
      return;
    const uint32_t hash = hashOf(mixed);
    const uint64_t home = homeOf(hash);
    for (uint32_t away = 0; away <= lines[home].farthest; ++away) {
      const Line &line = lines[behind(home, away)];
      for (unsigned same = line.find(nameOf(hash, home, away), blockMask());
           same; same &= same - 1)
        visit(line.entries[std::countr_zero(same)] & blockMask());
    }
  }

  /// Adds a key. The index grows by a quarter, to sizes that `phase` chooses,
  /// as a BucketIndex does, and where the number of the block is too large for
  /// it. Throws std::bad_alloc, and nothing has changed.
  void insert(uint64_t mixed, uint32_t block, double phase);

  /// Takes away a key that was added with this block. Needs no memory.
  void erase(uint64_t mixed, uint32_t block);

  size_t memoryBytes() const { return lines.capacity() * sizeof(Line); }

private:
  static constexpr int hashBits = 26, awayBits = 4;
  static constexpr uint32_t mostAway = (1 << awayBits) - 1;

  struct alignas(64) Line {
    static constexpr int places = 15;
    uint32_t entries[places];
    uint8_t count;
    /// How far away entries stand, or stood, whose home is here.
    uint8_t farthest;

    /// A bit for each place whose entry is `name`, but for the bits of `mask`.
    unsigned find(uint32_t name, uint32_t mask) const {
      const auto *words =
          reinterpret_cast<const __m256i *>(static_cast<const void *>(this));
      const __m256i others = _mm256_set1_epi32(int32_t(mask));
      const __m256i wanted = _mm256_set1_epi32(int32_t(name));
      const auto equal = [&](const __m256i *eight) {
        return unsigned(
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(
                _mm256_andnot_si256(others, _mm256_load_si256(eight)),
                wanted))));
      };
      return (equal(words) | equal(words + 1) << 8) & ((1u << count) - 1);
    }
  };
  static_assert(sizeof(Line) == 64, "a line is one cache line");

  /// Those below the bits of the shard.
  static uint32_t hashOf(uint64_t mixed) {
    return uint32_t(mixed << 10 >> (64 - hashBits));
  }
  uint64_t homeOf(uint32_t hash) const {
    return uint64_t(hash) * lines.size() >> hashBits;
  }
  /// The least hash whose home that is.
  uint64_t firstOf(uint64_t home) const {
    return ((home << hashBits) + lines.size() - 1) / lines.size();
  }
  uint64_t behind(uint64_t home, uint32_t away) const {
    const uint64_t at = home + away;
    return at < lines.size() ? at : at - lines.size();
  }
  uint32_t blockMask() const { return (uint32_t(1) << blockBits) - 1; }
  uint32_t nameOf(uint32_t hash, uint64_t home, uint32_t away) const {
    return away << (32 - awayBits) | uint32_t(hash - firstOf(home))
                                         << blockBits;
  }
  void setSize(uint64_t count);
  /// False: there is no room for it.
  bool put(uint32_t hash, uint32_t block);
  void growTo(uint64_t count);

  std::vector<Line> lines;
  uint64_t keyCount = 0;
  /// Of an entry, from its lowest bit on.
  int blockBits = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_BLOCKINDEX_H
