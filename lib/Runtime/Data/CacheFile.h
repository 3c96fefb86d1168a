//===- CacheFile.h - The rows of a data file, parsed ------------*- C++ -*-===//
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

/// Raised with every change to what a cache's bytes mean, the parsing of text
/// included: others are written anew.
inline constexpr uint32_t cacheVersion = 2;

/// Where a block begins, in bytes and in rows of the data file.
struct CachePlace {
  uint64_t offset;
  int64_t row;
};

/// A cache that is read, in place: mapped. The file is blocks (CacheBlock.h),
/// one behind the other, then the place of each, then what they belong to. It
/// is never changed: another one takes its name. Any thread may read.
class CacheFile {
public:
  /// None where there is no whole cache of this key.
  static std::unique_ptr<CacheFile> open(const std::string &path,
                                         const CacheKey &key);
  CacheFile(const CacheFile &) = delete;
  CacheFile &operator=(const CacheFile &) = delete;
  ~CacheFile();

  const std::string &path() const { return name; }
  int64_t rowCount() const { return rows; }
  /// Of what the file says before its rows (RowLog::preface).
  const std::optional<uint64_t> &preface() const { return header; }
  size_t blockCount() const { return blocks; }
  /// The block that has row `row` of the data file, which has it.
  size_t blockOf(int64_t row) const;
  /// The data file's row that block `block` begins with; of the one behind the
  /// last, how many there are.
  int64_t firstRow(size_t block) const {
    return block < blocks ? places[block].row : rows;
  }
  /// The bytes of a block, as they are there now; asks for those of the next.
  std::span<const std::byte> block(size_t block) const;

private:
  explicit CacheFile(std::string name) : name(std::move(name)) {}
  bool find(const CacheKey &key);

  std::string name;
  const std::byte *bytes = nullptr;
  size_t size = 0;
  /// Of all blocks.
  uint64_t blockBytes = 0;
  const CachePlace *places = nullptr;
  size_t blocks = 0;
  int64_t rows = 0;
  std::optional<uint64_t> header;
};

/// Writes a cache, block by block, which has its name once it is whole. Not
/// thread-safe.
class CacheWriter {
public:
  /// Null where another one writes it at the moment, in this process or in
  /// another. What an end by force has left of a cache of this name is removed.
  static Expected<std::unique_ptr<CacheWriter>> create(const std::string &path,
                                                       const CacheKey &key);

  /// A block of so many rows.
  Status add(std::span<const std::byte> block, int64_t rowCount);
  /// Gives the file its name.
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
