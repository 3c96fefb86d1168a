//===- CacheFile.h - The parsed rows of a data file -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CACHEFILE_H
#define LIB_RUNTIME_DATA_CACHEFILE_H

#include "Data/CacheKey.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Format version. Increase it with every change to the meaning of a cache's
/// bytes, including changes to the parsing of text. Caches of other versions
/// are rewritten.
inline constexpr uint32_t cacheVersion = 2;

/// Start of a block, in bytes and in rows of the data file.
struct CachePlace {
  uint64_t offset;
  int64_t row;
};

/// A cache that is read through a memory mapping. The file contains blocks
/// (CacheBlock.h), then the place of each block, then the trailer with the
/// cache's key. A file is never changed; a new one replaces it. Any number of
/// threads may read.
class CacheFile {
public:
  /// Opens a cache; returns null if there is no complete cache with this key.
  static std::unique_ptr<CacheFile> open(const std::string &path,
                                         const CacheKey &key);
  CacheFile(const CacheFile &) = delete;
  CacheFile &operator=(const CacheFile &) = delete;
  ~CacheFile();

  const std::string &path() const { return name; }
  int64_t rowCount() const { return rows; }
  /// Returns the content digest of the text before the rows (RowLog::preface).
  const std::optional<uint64_t> &preface() const { return header; }
  size_t blockCount() const { return blocks; }
  /// Returns the block with row `row` of the data file, which must exist.
  size_t blockOf(int64_t row) const;
  /// Returns the first row of a block in the data file, or the number of rows
  /// if `block` is the number of blocks.
  int64_t firstRow(size_t block) const {
    return block < blocks ? places[block].row : rows;
  }
  /// Returns the bytes of a block. The caller must validate them. Requests the
  /// next block from the operating system.
  std::span<const std::byte> block(size_t block) const;

private:
  explicit CacheFile(std::string name) : name(std::move(name)) {}
  bool find(const CacheKey &key);

  std::string name;
  const std::byte *bytes = nullptr;
  size_t size = 0;
  /// Bytes of all blocks.
  uint64_t blockBytes = 0;
  const CachePlace *places = nullptr;
  size_t blocks = 0;
  int64_t rows = 0;
  std::optional<uint64_t> header;
};

/// Writes a cache block by block. The file gets its name only when it is
/// complete. Not thread-safe.
class CacheWriter {
public:
  /// Creates a writer. Returns null if another writer, in any process, is
  /// writing this cache. Removes unfinished files of this cache that a killed
  /// process has left.
  static Expected<std::unique_ptr<CacheWriter>> create(const std::string &path,
                                                       const CacheKey &key);

  /// Appends a block with `rowCount` rows.
  Status add(std::span<const std::byte> block, int64_t rowCount);
  /// Completes the file and gives it its name.
  Status finish(const std::optional<uint64_t> &preface);

private:
  CacheWriter(const std::string &path, const CacheKey &key, LockFile lock)
      : lock(std::move(lock)), file(path), key(key) {}

  LockFile lock;
  TemporaryFile file;
  CacheKey key;
  std::vector<CachePlace> places;
  uint64_t written = 0;
  int64_t rows = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CACHEFILE_H
