//===- KeyIndex.h - Deduplication of a batch's keys -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_KEYINDEX_H
#define PDLRT_TABLE_KEYINDEX_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>

namespace pdlrt {

/// Finds the distinct keys in several arrays of ids. Results are valid until
/// the next call of `assign` or `assignLike`. Memory only grows. Not
/// thread-safe.
class KeyIndex {
public:
  /// Deduplicates the ids of `inputCount` arrays; array i has `counts[i]` ids.
  /// Returns an error if there are 2^31 ids or more in total, or if a count is
  /// negative. Throws std::bad_alloc.
  Status assign(int32_t inputCount, const int64_t *const *ids,
                const int64_t *counts);

  /// If `other` has deduplicated the same ids, copies its results and returns
  /// true. Two tables that look up the same field have the same ids. Otherwise
  /// returns false, usually after comparing one id; this object then has no
  /// results. Throws std::bad_alloc.
  bool assignLike(const KeyIndex &other, int32_t inputCount,
                  const int64_t *const *ids, const int64_t *counts);

  /// Returns the number of distinct keys, called U below.
  int64_t keyCount() const { return distinct; }
  /// Returns the number of ids in all inputs, called N below.
  int64_t occurrenceCount() const { return total; }
  /// Returns the U distinct keys, in the order of their first occurrence.
  const int64_t *keys() const { return at<int64_t>(keyBuffer); }
  /// Returns, for each of the N ids, the index of its key in `keys`.
  const int32_t *inverse() const { return at<int32_t>(inverseBuffer); }
  /// Returns U + 1 offsets: the occurrences of key u are `occurrences()`
  /// [splits()[u], splits()[u + 1]).
  const int32_t *splits() const { return at<int32_t>(splitBuffer); }
  /// Returns the N positions of ids in the inputs, grouped by key, ascending
  /// within a group.
  const int32_t *occurrences() const { return at<int32_t>(occurrenceBuffer); }

private:
  /// An entry of the hash table. It is in use if its `epoch` is the current
  /// one, so the table need not be cleared for each batch.
  struct Entry {
    int64_t key;
    uint32_t epoch;
    int32_t index;
  };
  template <typename T> static const T *at(const AlignedBuffer &buffer) {
    return static_cast<const T *>(buffer.data());
  }
  void growTable(int64_t occurrences);

  AlignedBuffer table, keyBuffer, inverseBuffer, splitBuffer, occurrenceBuffer;
  uint64_t tableSize = 0;
  uint32_t epoch = 0;
  int64_t distinct = 0, total = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_KEYINDEX_H
