//===- CacheKey.h - Identifies the content of a cache -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CACHEKEY_H
#define LIB_RUNTIME_DATA_CACHEKEY_H

#include "Data/RecordReader.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// Determines the rows of a cache: equal keys imply equal rows, provided that
/// every change of a data file changes its size or time.
struct CacheKey {
  /// 128-bit XXH3 of the data file's name and path, the format version, and
  /// everything that determines how a row is read: the record, the fields that
  /// the program reads, and the data flags.
  uint64_t schema[2] = {0, 0};
  /// Size of the data file, and its modification time in seconds and
  /// nanoseconds.
  uint64_t bytes = 0;
  int64_t seconds = 0, nanoseconds = 0;
  bool operator==(const CacheKey &) const = default;

  /// Returns the key of a file, or none if `path` is not a regular file of at
  /// least one byte. Such files are not cached.
  static std::optional<CacheKey> of(const std::string &path,
                                    const RecordReaderOptions &options);
  /// Returns the path of the cache file in a folder. The name is made from the
  /// data file's name and the schema, so that a cache of a changed data file
  /// replaces the old one.
  std::string fileIn(const std::string &folder, const std::string &path) const;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CACHEKEY_H
