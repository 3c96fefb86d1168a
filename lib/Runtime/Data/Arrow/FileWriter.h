//===- FileWriter.h - Writes files of columns -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ARROW_FILEWRITER_H
#define LIB_RUNTIME_DATA_ARROW_FILEWRITER_H

#include "Data/ColumnFileApi.h"

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include <memory>

/// A file that is written. Functions may throw. Not thread-safe.
struct PdlColumnWriter {
  virtual ~PdlColumnWriter() = default;
  virtual const std::shared_ptr<arrow::Schema> &schema() const = 0;
  /// Writes a row group or a batch, and keeps no reference to it.
  virtual arrow::Status write(const arrow::RecordBatch &batch) = 0;
  /// Writes the end of the file.
  virtual arrow::Status finish() = 0;
};

arrow::Result<std::unique_ptr<PdlColumnWriter>>
makeFileWriter(const PdlColumnSink &sink, PdlColumnFormat format,
               std::shared_ptr<arrow::Schema> schema);

#endif // LIB_RUNTIME_DATA_ARROW_FILEWRITER_H
