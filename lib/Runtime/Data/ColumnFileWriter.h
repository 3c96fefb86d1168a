//===- ColumnFileWriter.h - Writes files of columns -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNFILEWRITER_H
#define LIB_RUNTIME_DATA_COLUMNFILEWRITER_H

#include "Data/ColumnFileApi.h"
#include "pdlrt/Core/Status.h"

#include <functional>
#include <memory>
#include <string_view>

namespace pdlrt {

/// A Parquet or Arrow IPC file that `libpdl-arrow.so.1` writes. Not
/// thread-safe.
class ColumnFileWriter {
public:
  /// Takes the bytes of the file, in order.
  using Sink = std::function<Status(std::string_view bytes)>;

  /// Begins a file. `schema`: a struct with the columns; it is released.
  /// Returns an error with the remedy if the library is missing.
  static Expected<std::unique_ptr<ColumnFileWriter>>
  create(PdlColumnFormat format, PdlColumnSchema &schema, Sink sink);
  ColumnFileWriter(const ColumnFileWriter &) = delete;
  ColumnFileWriter &operator=(const ColumnFileWriter &) = delete;
  ~ColumnFileWriter();

  /// Writes rows as a row group or a batch. Releases `batch` before it returns.
  Status write(PdlColumnArray &batch);
  /// Writes the end of the file.
  Status finish();

private:
  ColumnFileWriter(const PdlColumnFunctions &functions, Sink sink)
      : functions(functions), sink(std::move(sink)) {}
  Status statusOf(int32_t code, const PdlColumnError &error) const;

  const PdlColumnFunctions &functions;
  Sink sink;
  Status sinkStatus; ///< First error of `sink`.
  PdlColumnWriter *writer = nullptr;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNFILEWRITER_H
