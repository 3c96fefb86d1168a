//===- ColumnFile.h - Files of columns --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNFILE_H
#define LIB_RUNTIME_DATA_COLUMNFILE_H

#include "Data/ColumnFileApi.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt {

/// Owns a type or an array of the C data interface.
template <typename T> class ColumnData {
public:
  ColumnData() = default;
  ColumnData(ColumnData &&other) noexcept
      : data(std::exchange(other.data, {})) {}
  ColumnData &operator=(ColumnData &&other) noexcept {
    std::swap(data, other.data);
    return *this;
  }
  ~ColumnData() {
    if (data.release)
      data.release(&data);
  }

  T *operator->() { return &data; }
  const T *operator->() const { return &data; }
  T &operator*() { return data; }
  const T &operator*() const { return data; }

private:
  T data = {};
};

/// Returns the functions of the library, which the first call opens. Returns an
/// error with the remedy if it is missing or of another version.
Expected<const PdlColumnFunctions *> columnLibrary();

class StoredColumns;

/// A Parquet or Arrow file, which `libpdl-arrow.so.1` reads. Not thread-safe.
class ColumnFile {
public:
  /// Opens a file or an object of a store, and the library at the first call.
  /// Of an object, only the ranges that are needed are requested. Returns an
  /// error with the remedy if the library is missing or of another version.
  static Expected<ColumnFile> open(const std::string &path,
                                   PdlColumnFormat format);
  /// Opens an Arrow IPC stream in memory, which must outlive the file and its
  /// arrays. All of it is checked. `name`: its name in messages.
  static Expected<ColumnFile> openMessage(std::string_view bytes,
                                          const std::string &name);
  ColumnFile(ColumnFile &&other) noexcept
      : functions(other.functions), file(std::exchange(other.file, nullptr)),
        name(std::move(other.name)), stored(std::move(other.stored)),
        groups(std::move(other.groups)) {}
  ~ColumnFile();

  const std::string &path() const { return name; }
  Expected<ColumnData<PdlColumnSchema>> schema();
  /// Returns the number of row groups.
  int64_t groupCount() const { return int64_t(groups.size()); }
  /// Returns the number of rows of a group, without reading values of Parquet
  /// files.
  Expected<int64_t> rowsOf(int64_t group);
  /// Returns the number of rows of all groups.
  Expected<int64_t> countRows();
  /// Begins to read columns of a group. `columns`: ascending and distinct, at
  /// least one.
  Status begin(int64_t group, std::span<const int32_t> columns);
  /// Skips `skipped` rows of the group, and returns the rows after them; a
  /// length of 0 at its end.
  Expected<ColumnData<PdlColumnArray>> next(int64_t skipped);

private:
  ColumnFile(const PdlColumnFunctions &functions, PdlColumnFile *file,
             std::string path, std::shared_ptr<StoredColumns> stored)
      : functions(&functions), file(file), name(std::move(path)),
        stored(std::move(stored)),
        groups(size_t(functions.groupCount(file)), -1) {}
  Status statusOf(int32_t code, const PdlColumnError &error) const;

  const PdlColumnFunctions *functions;
  PdlColumnFile *file;
  std::string name;
  /// Null unless the file is in an object store.
  std::shared_ptr<StoredColumns> stored;
  std::vector<int64_t> groups; ///< Numbers of rows; -1: unknown.
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNFILE_H
