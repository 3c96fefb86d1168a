//===- LocalTable.h - A hash table of rows for the benchmark ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_HANDWRITTEN_LOCALTABLE_H
#define PDL_BENCH_HANDWRITTEN_LOCALTABLE_H

#include "pdlabi/hash.h"
#include "pdlabi/philox.h"

#include <cstdint>
#include <vector>

namespace pdlbench {

/// Distinct keys of a batch in order of first occurrence, and their positions.
struct Occurrences {
  std::vector<int64_t> keys;
  std::vector<int32_t> inverse;
  std::vector<int32_t> splits, positions;

  void build(const std::vector<int64_t> &ids) {
    if (entries.size() < 4 * ids.size())
      resize(4 * ids.size());
    ++epoch;
    keys.clear();
    inverse.resize(ids.size());
    constexpr size_t ahead = 16;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i + ahead < ids.size())
        __builtin_prefetch(&entries[slotOf(ids[i + ahead])], 1);
      size_t slot = slotOf(ids[i]);
      while (entries[slot].epoch == epoch && entries[slot].key != ids[i])
        slot = (slot + 1) & (entries.size() - 1);
      Entry &entry = entries[slot];
      if (entry.epoch != epoch) {
        entry = {ids[i], epoch, static_cast<int32_t>(keys.size())};
        keys.push_back(ids[i]);
      }
      inverse[i] = entry.index;
    }
    // Counting sort of the positions by key; the positions of each key stay
    // ascending.
    splits.assign(keys.size() + 1, 0);
    for (int32_t index : inverse)
      ++splits[static_cast<size_t>(index) + 1];
    for (size_t key = 0; key < keys.size(); ++key)
      splits[key + 1] += splits[key];
    next.assign(splits.begin(), splits.end() - 1);
    positions.resize(ids.size());
    for (size_t i = 0; i < ids.size(); ++i)
      positions[static_cast<size_t>(next[static_cast<size_t>(inverse[i])]++)] =
          static_cast<int32_t>(i);
  }

private:
  struct Entry {
    int64_t key;
    uint32_t epoch;
    int32_t index;
  };

  size_t slotOf(int64_t key) const {
    return pdlabi::mixKey(static_cast<uint64_t>(key)) & (entries.size() - 1);
  }
  void resize(size_t least) {
    size_t size = 1;
    while (size < least)
      size *= 2;
    entries.assign(size, {0, 0, 0});
    epoch = 0;
  }

  std::vector<Entry> entries;
  std::vector<int32_t> next;
  uint32_t epoch = 0;
};

/// A hash table with open addressing and a fixed number of slots. Each row has
/// `dimension` values, followed by two optimizer slots of the same size.
class LocalTable {
public:
  static constexpr int dimension = 10;
  static constexpr int rowElements = 3 * dimension;

  explicit LocalTable(int bits)
      : mask((size_t(1) << bits) - 1), entries(mask + 1, {0, -1}) {
    rows.reserve((mask + 1) / 2 * rowElements);
  }

  /// Sets found[i] to the row of keys[i], which is created if it is new. The
  /// new rows of a batch must fit into the reserved half of the slots.
  void find(const std::vector<int64_t> &keys, std::vector<float *> &found) {
    constexpr size_t ahead = 16;
    found.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i + ahead < keys.size())
        __builtin_prefetch(&entries[slotOf(keys[i + ahead])]);
      size_t slot = slotOf(keys[i]);
      while (entries[slot].row >= 0 && entries[slot].key != keys[i])
        slot = (slot + 1) & mask;
      if (entries[slot].row < 0)
        insert(entries[slot], keys[i]);
      found[i] = rows.data() + entries[slot].row * rowElements;
      __builtin_prefetch(found[i]);
    }
  }

  int64_t size() const { return rowCount; }

private:
  struct Entry {
    int64_t key, row;
  };

  size_t slotOf(int64_t key) const {
    return pdlabi::mixKey(static_cast<uint64_t>(key)) & mask;
  }
  void insert(Entry &entry, int64_t key) {
    entry = {key, rowCount++};
    rows.resize(rows.size() + rowElements, 0.0f);
    const pdl_initializer uniform = {PDL_INIT_UNIFORM, -0.01, 0.01};
    pdlabi::fillInitialValues(uniform, 1, 1, static_cast<uint64_t>(key),
                              dimension, rows.data() + entry.row * rowElements);
  }

  size_t mask;
  std::vector<Entry> entries;
  std::vector<float> rows;
  int64_t rowCount = 0;
};

} // namespace pdlbench

#endif // PDL_BENCH_HANDWRITTEN_LOCALTABLE_H
