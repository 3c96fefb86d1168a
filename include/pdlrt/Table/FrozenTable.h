//===- FrozenTable.h - Rows that do not change, in one block ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What serves needs no room to grow: keys are in buckets of a cache line, and
// rows stand one behind the other in the order of their buckets, without gaps.
// A lookup reads one line of keys (rarely two) and the row. A key takes about
// 13 bytes besides its row.
//
// The block is the same in a file, which processes map and share; numbers have
// the least byte first (docs/Serving.md).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_FROZENTABLE_H
#define PDLRT_TABLE_FROZENTABLE_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// A map from keys to rows of equal size, which nobody changes. Any number of
/// threads may read it.
class FrozenTable {
public:
  /// Room for the rows of `keys`, of `rowBytes` bytes each, which the caller
  /// fills: places[i] is that of keys[i]. The last `removed` of them have no
  /// row any more: of a table that is searched behind this one their rows do
  /// not count. A key that is there twice is an error that says which. Throws
  /// std::bad_alloc.
  static Expected<FrozenTable> build(const std::vector<int64_t> &keys,
                                     size_t rowBytes,
                                     std::vector<uint64_t> &places,
                                     size_t removed = 0);
  /// The row of a place, before anybody reads the table.
  void *rowAt(uint64_t place) {
    return static_cast<char *>(rowMemory.data()) + place * bytesOfRow;
  }
  /// The place of a row that was found, in [0, size()).
  uint64_t placeOf(const void *row) const {
    return uint64_t(static_cast<const char *>(row) - rows) / bytesOfRow;
  }
  /// Whether it was mapped.
  bool isMapped() const { return mapping != nullptr; }

  /// Maps a file that `write` wrote and gave that digest, of rows of `rowBytes`
  /// bytes: its pages are read when they are needed, and shared with other
  /// processes. Of it only the first 128 bytes are looked at; whatever the rest
  /// holds, nothing but it is read. Nobody may change the file meanwhile:
  /// whoever touches what is cut off ends by SIGBUS.
  static Expected<FrozenTable> map(const std::string &path, size_t rowBytes,
                                   const FileDigest &digest);
  /// Writes it as a file, under a temporary name before its own. `digest` gets
  /// its bytes and the sum of its first ones, which have the sums of the rest.
  Status write(const std::string &path, FileDigest &digest) const;
  /// Reads all of such a file; an error where a bit of it has changed.
  static Status verify(const std::string &path, const FileDigest &digest);

  /// Of no rows.
  FrozenTable() = default;
  FrozenTable(FrozenTable &&) noexcept = default;
  FrozenTable &operator=(FrozenTable &&) noexcept = default;

  int64_t size() const { return rowCount; }
  size_t rowBytes() const { return bytesOfRow; }
  /// Of keys and rows together.
  size_t memoryBytes() const;

  /// rows[i] = the row of keys[i], `removedRow` where it has none any more, or
  /// null. Rows that are not null are passed over: of several tables the first
  /// one that knows a key says where its row is. Returns the number of nulls
  /// that are left.
  int64_t find(int64_t count, const int64_t *keys, void **rows) const;
  static void *const removedRow;

  /// Calls visit(key, row) for each, null for one that was removed.
  template <typename Visit> void forEach(Visit visit) const;

private:
  struct Bucket;
  /// The bucket where the search for a key begins.
  size_t bucketOf(int64_t key) const;

  /// Where searches may begin; a few more stand behind them.
  size_t bucketCount = 0, allBuckets = 0;
  int64_t rowCount = 0;
  size_t bytesOfRow = 0;
  /// Whether buckets say which keys were removed. What a mapped file says of
  /// that is passed over: no export has such keys, and whoever reads one asks
  /// for rows alone.
  bool hasRemoved = false;
  /// Where both are: in the memory below, or in a file.
  const Bucket *buckets = nullptr;
  const char *rows = nullptr;
  AlignedBuffer bucketMemory, rowMemory;
  std::shared_ptr<const void> mapping;
};

/// A cache line.
struct alignas(64) FrozenTable::Bucket {
  static constexpr size_t keyCount = 7;

  int64_t keys[keyCount];
  /// The number of its first row.
  uint64_t firstRow : 48;
  uint64_t count : 3;
  /// Whether keys that belong here stand in the next one.
  uint64_t goesOn : 1;
  /// By key, whether it was removed; of tables with `hasRemoved`.
  uint64_t removed : 7;
};

template <typename Visit> void FrozenTable::forEach(Visit visit) const {
  for (const Bucket *bucket = buckets; bucket < buckets + allBuckets; ++bucket)
    for (size_t k = 0; k < bucket->count; ++k)
      visit(bucket->keys[k], hasRemoved && (bucket->removed >> k & 1)
                                 ? nullptr
                                 : rows + std::min(bucket->firstRow + k,
                                                   uint64_t(rowCount) - 1) *
                                              bytesOfRow);
}

} // namespace pdlrt

#endif // PDLRT_TABLE_FROZENTABLE_H
