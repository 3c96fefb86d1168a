//===- FrozenTable.h - Read-only table in one block -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table for serving does not grow, so it is one block of memory. Keys are in
// buckets of one cache line. Rows follow each other in the order of the
// buckets. A lookup reads one cache line of keys (rarely two) and the row. A
// key needs about 13 bytes in addition to its row.
//
// A file has the same format, so that processes can map and share it. Numbers
// are little-endian (docs/Serving.md).
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

/// An immutable map from keys to rows of equal size. Thread-safe.
class FrozenTable {
public:
  /// Creates a table with rows of `rowBytes` bytes for `keys`. The caller must
  /// fill the rows (`rowAt`); sets places[i] to the index of the row of
  /// keys[i]. The last `removed` keys are marked as removed and have no row:
  /// `find` reports them, so that a table that is searched after this one is
  /// not asked for them. If a key occurs twice, returns an error with the key.
  /// Throws std::bad_alloc.
  static Expected<FrozenTable> build(const std::vector<int64_t> &keys,
                                     size_t rowBytes,
                                     std::vector<uint64_t> &places,
                                     size_t removed = 0);
  /// Returns the row with index `place`. Fill it before the table is read.
  void *rowAt(uint64_t place) {
    return static_cast<char *>(rowMemory.data()) + place * bytesOfRow;
  }
  /// Returns the index of a row that `find` has returned, in [0, size()).
  uint64_t placeOf(const void *row) const {
    return uint64_t(static_cast<const char *>(row) - rows) / bytesOfRow;
  }
  /// Returns true if the table is a mapped file.
  bool isMapped() const { return mapping != nullptr; }

  /// Maps a file that `write` has written, with rows of `rowBytes` bytes;
  /// `digest` is the result of `write`. Pages are read on access and shared
  /// with other processes. Checks only the first 128 bytes; whatever the rest
  /// contains, lookups do not read memory outside of the file. The file must
  /// not change while it is mapped: access to a truncated part raises SIGBUS.
  static Expected<FrozenTable> map(const std::string &path, size_t rowBytes,
                                   const FileDigest &digest);
  /// Writes the table as a file, first under a temporary name. Sets `digest` to
  /// the size of the file and the checksum of its header, which contains the
  /// checksums of the rest.
  Status write(const std::string &path, FileDigest &digest) const;
  /// Reads and checks a whole file. Returns an error if any bit has changed.
  static Status verify(const std::string &path, const FileDigest &digest);

  /// Creates an empty table.
  FrozenTable() = default;
  FrozenTable(FrozenTable &&) noexcept = default;
  FrozenTable &operator=(FrozenTable &&) noexcept = default;

  int64_t size() const { return rowCount; }
  size_t rowBytes() const { return bytesOfRow; }
  /// Returns the size of keys and rows together, in bytes.
  size_t memoryBytes() const;

  /// Looks up the keys whose entry in `rows` is null. Sets rows[i] to the row
  /// of keys[i], or to `removedRow` if the key is marked as removed; leaves
  /// null if the table does not have the key. So several tables can be searched
  /// one after the other, and the first one that has a key determines its row.
  /// Returns the number of remaining nulls.
  int64_t find(int64_t count, const int64_t *keys, void **rows) const;
  static void *const removedRow;

  /// Calls visit(key, row) for each key; the row is null if the key was
  /// removed.
  template <typename Visit> void forEach(Visit visit) const;

private:
  struct Bucket;
  /// Returns the bucket where the search for a key starts.
  size_t bucketOf(int64_t key) const;

  /// `bucketCount`: number of buckets in which searches start. `allBuckets`:
  /// number of all buckets, a few more, for keys that do not fit into the last
  /// of these.
  size_t bucketCount = 0, allBuckets = 0;
  int64_t rowCount = 0;
  size_t bytesOfRow = 0;
  /// True if buckets record removed keys. False for mapped files, because
  /// exports have no removed keys; then `Bucket::removed` is ignored.
  bool hasRemoved = false;
  /// Addresses in the memory below, or in a mapped file.
  const Bucket *buckets = nullptr;
  const char *rows = nullptr;
  AlignedBuffer bucketMemory, rowMemory;
  std::shared_ptr<const void> mapping;
};

/// Bucket of keys: one cache line.
struct alignas(64) FrozenTable::Bucket {
  static constexpr size_t keyCount = 7;

  int64_t keys[keyCount];
  /// Index of the row of the first key.
  uint64_t firstRow : 48;
  uint64_t count : 3;
  /// 1 if the next bucket has keys that belong to this bucket but did not fit.
  uint64_t goesOn : 1;
  /// One bit per key: 1 if it was removed; only in tables with `hasRemoved`.
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
