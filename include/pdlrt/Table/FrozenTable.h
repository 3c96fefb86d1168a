//===- FrozenTable.h - Read-only table in one block -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table for serving does not need to grow. Keys are in buckets of one cache
// line, and rows are consecutive, in the order of their buckets. A lookup reads
// one cache line of keys (rarely two) and the row. A key takes about 13 bytes
// in addition to its row.
//
// The block has the same format in a file, which processes map and share.
// Numbers are little-endian (docs/Serving.md).
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
  /// Allocates the rows of `keys`, of `rowBytes` bytes each, which the caller
  /// fills: places[i] is the index of the row of keys[i]. The last `removed`
  /// keys are marked as removed: they hide the rows of these keys in a table
  /// that is searched after this one. Returns an error with the key if a key
  /// occurs twice. Throws std::bad_alloc.
  static Expected<FrozenTable> build(const std::vector<int64_t> &keys,
                                     size_t rowBytes,
                                     std::vector<uint64_t> &places,
                                     size_t removed = 0);
  /// Returns the row with this index, to be filled before the table is read.
  void *rowAt(uint64_t place) {
    return static_cast<char *>(rowMemory.data()) + place * bytesOfRow;
  }
  /// Returns the index of a found row, in [0, size()).
  uint64_t placeOf(const void *row) const {
    return uint64_t(static_cast<const char *>(row) - rows) / bytesOfRow;
  }
  /// Returns true if the table is a mapped file.
  bool isMapped() const { return mapping != nullptr; }

  /// Maps a file with rows of `rowBytes` bytes that `write` wrote with this
  /// digest. Pages are read on demand and shared with other processes. Only the
  /// first 128 bytes are checked; whatever the rest contains, no memory outside
  /// of the file is read. The file must not change meanwhile: access to a
  /// truncated part raises SIGBUS.
  static Expected<FrozenTable> map(const std::string &path, size_t rowBytes,
                                   const FileDigest &digest);
  /// Writes the table as a file, first under a temporary name. `digest` gets
  /// its size and the checksum of its header, which contains the checksums of
  /// the rest.
  Status write(const std::string &path, FileDigest &digest) const;
  /// Reads and checks a whole file. Returns an error if any bit has changed.
  static Status verify(const std::string &path, const FileDigest &digest);

  /// Creates an empty table.
  FrozenTable() = default;
  FrozenTable(FrozenTable &&) noexcept = default;
  FrozenTable &operator=(FrozenTable &&) noexcept = default;

  int64_t size() const { return rowCount; }
  size_t rowBytes() const { return bytesOfRow; }
  /// Returns the bytes of keys and rows together.
  size_t memoryBytes() const;

  /// Sets rows[i] to the row of keys[i], `removedRow` if the key was removed,
  /// or null. Entries that are not null on entry are skipped: with several
  /// tables, the first one that has a key determines its row. Returns the
  /// number of remaining nulls.
  int64_t find(int64_t count, const int64_t *keys, void **rows) const;
  static void *const removedRow;

  /// Calls visit(key, row) for each key; the row is null if the key was
  /// removed.
  template <typename Visit> void forEach(Visit visit) const;

private:
  struct Bucket;
  /// Returns the bucket where the search for a key starts.
  size_t bucketOf(int64_t key) const;

  /// Number of buckets where searches may start, and of all buckets: a few more
  /// follow.
  size_t bucketCount = 0, allBuckets = 0;
  int64_t rowCount = 0;
  size_t bytesOfRow = 0;
  /// True if buckets record removed keys. For a mapped file these bits are
  /// ignored: no export has removed keys, and its readers only request rows.
  bool hasRemoved = false;
  /// Point to the memory below, or into a mapped file.
  const Bucket *buckets = nullptr;
  const char *rows = nullptr;
  AlignedBuffer bucketMemory, rowMemory;
  std::shared_ptr<const void> mapping;
};

/// A cache line.
struct alignas(64) FrozenTable::Bucket {
  static constexpr size_t keyCount = 7;

  int64_t keys[keyCount];
  /// Index of its first row.
  uint64_t firstRow : 48;
  uint64_t count : 3;
  /// 1 if keys that belong here are in the next bucket.
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
