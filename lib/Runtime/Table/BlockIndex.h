//===- BlockIndex.h - Keys to blocks of rows --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps each key of a shard to the block (SpilledShard.h) that has its row. An
// entry has four bytes; including free entries, the index uses about 6 bytes
// per key. The keys themselves are in the blocks. The index has only 26 bits of
// a mixed key, so it may return a block that has another key. The reader of the
// block notices this.
//
// A line is a cache line with 15 entries. Some of the 26 bits select the line
// of an entry, so the entry need not store them. It uses as many more bits for
// the number of its block. So the more keys there are, the more blocks can be
// numbered. An entry is in the line that its bits select, or at most 15 lines
// after it, and stores this distance.
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

  /// Prefetches the line where a search starts.
  void prefetch(uint64_t mixed) const {
    if (!lines.empty())
      __builtin_prefetch(&lines[homeOf(hashOf(mixed))]);
  }

  /// Calls visit(block) for each block that may contain the key's row.
  template <typename Visit> void find(uint64_t mixed, Visit visit) const {
    if (lines.empty())
      return;
    const uint32_t hash = hashOf(mixed);
    const uint64_t home = homeOf(hash);
    for (uint32_t away = 0; away <= lines[home].farthest; ++away) {
      const Line &line = lines[lineAfter(home, away)];
      for (unsigned same = line.find(nameOf(hash, home, away), blockMask());
           same; same &= same - 1)
        visit(line.entries[std::countr_zero(same)] & blockMask());
    }
  }

  /// Adds a key whose row is in `block`. If necessary, the index grows by a
  /// quarter, to sizes that `phase` selects, as in a BucketIndex. It also grows
  /// if its entries have too few bits for the number of the block. On
  /// std::bad_alloc, nothing has changed.
  void insert(uint64_t mixed, uint32_t block, double phase);

  /// Removes a key. `block`: the block with which it was added. Allocates
  /// nothing.
  void erase(uint64_t mixed, uint32_t block);

  size_t memoryBytes() const { return lines.capacity() * sizeof(Line); }

private:
  static constexpr int hashBits = 26, awayBits = 4;
  static constexpr uint32_t maxAway = (1 << awayBits) - 1;

  struct alignas(64) Line {
    static constexpr int places = 15;
    uint32_t entries[places];
    uint8_t count;
    /// Maximum distance from this line of entries whose home is this line. It
    /// includes erased entries.
    uint8_t farthest;

    /// Returns a bit mask of the entries that equal `name`, without regard to
    /// the bits in `mask`.
    unsigned find(uint32_t name, uint32_t mask) const {
      const auto *words = reinterpret_cast<const __m256i *>(this);
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

  /// Returns the bits of the key that follow the bits for the shard.
  static uint32_t hashOf(uint64_t mixed) {
    return uint32_t(mixed << 10 >> (64 - hashBits));
  }
  uint64_t homeOf(uint32_t hash) const {
    return uint64_t(hash) * lines.size() >> hashBits;
  }
  /// Returns the smallest hash whose home is line `home`.
  uint64_t firstOf(uint64_t home) const {
    return ((home << hashBits) + lines.size() - 1) / lines.size();
  }
  uint64_t lineAfter(uint64_t home, uint32_t away) const {
    const uint64_t at = home + away;
    return at < lines.size() ? at : at - lines.size();
  }
  uint32_t blockMask() const { return (uint32_t(1) << blockBits) - 1; }
  uint32_t nameOf(uint32_t hash, uint64_t home, uint32_t away) const {
    return away << (32 - awayBits) | uint32_t(hash - firstOf(home))
                                         << blockBits;
  }
  void setSize(uint64_t count);
  /// Adds an entry. Returns false if no line near its home has a free entry.
  bool put(uint32_t hash, uint32_t block);
  void growTo(uint64_t count);

  std::vector<Line> lines;
  uint64_t keyCount = 0;
  /// Number of an entry's low bits with the block.
  int blockBits = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_BLOCKINDEX_H
