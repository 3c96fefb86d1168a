//===- CacheKey.h - What the content of a cache follows from ----*- C++ -*-===//
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

/// What the rows of a cache follow from: two of equal keys have equal rows, as
/// long as whoever changes a data file changes its size or its time.
struct CacheKey {
  /// Of the data file's name and path, the version of the format, and all that
  /// says how a row is read: the record, the fields that the program reads, and
  /// the flags of data. 128 bits of XXH3.
  uint64_t schema[2] = {0, 0};
  /// Of the data file: bytes, and when it was last changed, in seconds and
  /// nanoseconds.
  uint64_t bytes = 0;
  int64_t seconds = 0, nanoseconds = 0;
  bool operator==(const CacheKey &) const = default;

  /// None where `path` is no regular file of at least one byte: that is read as
  /// it comes.
  static std::optional<CacheKey> of(const std::string &path,
                                    const RecordReaderOptions &options);
  /// The cache's file in a folder: named after the data file and the schema, so
  /// that the rows of a changed data file take the place of the earlier ones.
  std::string fileIn(const std::string &folder, const std::string &path) const;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CACHEKEY_H
