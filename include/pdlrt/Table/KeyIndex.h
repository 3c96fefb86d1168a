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

/// Finds the distinct keys of several id arrays, in order. The results are
/// valid until the next call; the memory only grows. Not thread-safe.
class KeyIndex {
public:
  /// Deduplicates `inputCount` arrays of `counts[i]` ids. Fails if there are
  /// 2^31 ids or more, or a count is negative. Throws std::bad_alloc.
  Status assign(int32_t inputCount, const int64_t *const *ids,
                const int64_t *counts);

  /// Copies the result from `other` if it has the same ids, as tables of one
  /// field do, and returns true. Otherwise returns false, usually after
  /// comparing one id, and has no result. Throws std::bad_alloc.
  bool assignLike(const KeyIndex &other, int32_t inputCount,
                  const int64_t *const *ids, const int64_t *counts);

  /// Returns U, the number of distinct keys.
  int64_t keyCount() const { return distinct; }
  /// Returns N, the number of ids in all inputs.
  int64_t occurrenceCount() const { return total; }
  /// Returns the [U] keys in order of first occurrence.
  const int64_t *keys() const { return at<int64_t>(keyBuffer); }
  /// Returns the [N] key index of each occurrence.
  const int32_t *inverse() const { return at<int32_t>(inverseBuffer); }
  /// Returns [U + 1] offsets into `occurrences`.
  const int32_t *splits() const { return at<int32_t>(splitBuffer); }
  /// Returns the [N] occurrences grouped by key, ascending within a group.
  const int32_t *occurrences() const { return at<int32_t>(occurrenceBuffer); }

private:
  /// A slot of the hash table. It is occupied if its epoch is the current one,
  /// so the table need not be cleared between batches.
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
