//===- LeafColumn.h - Decodes columns of Parquet files ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ARROW_LEAFCOLUMN_H
#define LIB_RUNTIME_DATA_ARROW_LEAFCOLUMN_H

#include "Data/ColumnFileApi.h"

#include <arrow/status.h>
#include <arrow/type.h>
#include <parquet/file_reader.h>
#include <parquet/schema.h>

#include <cstdint>
#include <memory>

/// Decodes one column of single values or of lists, without Arrow's arrays. If
/// all pages of a row group are encoded with a dictionary, passes on indices
/// and the dictionary, which is decoded once. Functions may throw. Not
/// thread-safe.
class LeafColumn {
public:
  virtual ~LeafColumn() = default;

  /// Returns a decoder for leaf `index` of the file, whose column has that type
  /// in Arrow. Null if the type needs Arrow's own reader. `type`: set to the
  /// type of the decoder's arrays, which have no dictionary type.
  static std::unique_ptr<LeafColumn>
  create(const parquet::ColumnDescriptor &column, int index,
         std::shared_ptr<arrow::DataType> &type);

  /// Begins a row group.
  virtual void begin(parquet::RowGroupReader &group) = 0;
  /// Skips `skipped` rows, and sets the `rows` rows after them.
  virtual arrow::Status read(int64_t skipped, int64_t rows,
                             PdlColumnArray *out) = 0;
};

#endif // LIB_RUNTIME_DATA_ARROW_LEAFCOLUMN_H
