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

/// Finds the distinct keys of id arrays taken one after the other. The results
/// live in the object until its next call; its memory only grows. Not
/// thread-safe.
class KeyIndex {
public:
  /// Deduplicates `inputCount` arrays of `counts[i]` ids. Fails if there are
  /// 2^31 ids or more, or a count is negative. Throws std::bad_alloc.
  Status assign(int32_t inputCount, const int64_t *const *ids,
                const int64_t *counts);

  /// The same where `other` has the result for the same ids, as the tables of
  /// one field have: then it is copied, and true. Else false, mostly at the
  /// first id, with no result. Throws std::bad_alloc.
  bool assignLike(const KeyIndex &other, int32_t inputCount,
                  const int64_t *const *ids, const int64_t *counts);

  /// U, the number of distinct keys.
  int64_t keyCount() const { return distinct; }
  /// N, the number of ids over all inputs.
  int64_t occurrenceCount() const { return total; }
  /// [U] in order of first occurrence.
  const int64_t *keys() const { return at<int64_t>(keyBuffer); }
  /// [N] occurrence to key index.
  const int32_t *inverse() const { return at<int32_t>(inverseBuffer); }
  /// [U + 1] into `occurrences`.
  const int32_t *splits() const { return at<int32_t>(splitBuffer); }
  /// [N] occurrences grouped by key, ascending in a group.
  const int32_t *occurrences() const { return at<int32_t>(occurrenceBuffer); }

private:
  /// A slot of the hash table; it is taken if its epoch is the current one, so
  /// nothing has to be cleared between batches.
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
