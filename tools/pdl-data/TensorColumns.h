//===- TensorColumns.h - Writes rows as safetensors -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_TENSORCOLUMNS_H
#define PDL_TOOLS_PDL_DATA_TENSORCOLUMNS_H

#include "Data/RecordColumns.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Bytes that are kept in an unnamed file, because there may be many. Not
/// thread-safe.
class SpooledBytes {
public:
  SpooledBytes() = default;
  SpooledBytes(const SpooledBytes &) = delete;
  SpooledBytes &operator=(const SpooledBytes &) = delete;
  ~SpooledBytes();

  /// Creates the file in `folder`.
  pdlrt::Status open(const std::string &folder);
  pdlrt::Status append(std::string_view bytes);
  /// Writes the rest of the bytes. Call before `read`.
  pdlrt::Status flush();
  /// Reads `size` bytes from `offset`. Returns false on an error.
  bool read(uint64_t offset, char *into, size_t size) const;
  uint64_t size() const { return written + buffer.size(); }

private:
  int file = -1;
  uint64_t written = 0;
  std::string buffer;
};

/// Writes records as safetensors of columns. Ids are written as keys (U64), so
/// that fields that hash texts accept them. Not thread-safe.
class TensorColumns {
public:
  explicit TensorColumns(std::string path) : path(std::move(path)) {}

  pdlrt::Status begin(const std::vector<const pdl_field *> &fields);
  /// Adds all records of `columns`.
  pdlrt::Status add(const pdlrt::RecordColumns &columns);
  /// Writes the file.
  pdlrt::Status finish();

private:
  struct Column {
    const pdl_field *field;
    std::unique_ptr<SpooledBytes> values = {}, splits = {};
    int64_t end = 0; ///< Number of values so far.
  };
  std::string path;
  std::vector<Column> columns;
  int64_t rows = 0;
};

#endif // PDL_TOOLS_PDL_DATA_TENSORCOLUMNS_H
