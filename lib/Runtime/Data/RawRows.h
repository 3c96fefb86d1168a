//===- RawRows.h - Rows of files that are read without a record -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tools such as pdl-data read files without a model. They see the names and
// values that a file has, before any field converts them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RAWROWS_H
#define LIB_RUNTIME_DATA_RAWROWS_H

#include "Data/RowValue.h"
#include "pdlrt/Core/Status.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pdlrt {

struct DataOptions;
struct RecordReaderOptions;
class RowAssembler;
class RowParser;
class RowSource;

/// A column of a file, and its values in the current row.
struct RawColumn {
  /// Name in the file; in files without names, the position from 0.
  std::string name;
  /// Valid until the next call of `RawRows::next` or `parse`.
  std::span<const RowValue> values = {};
  /// True if the row has the column, even without values.
  bool isGiven = false;
  /// True if the row has one value that is not written as a list.
  bool isAlone = false;
};

/// Reads the rows of one file once, in order. Not thread-safe.
class RawRows {
public:
  virtual ~RawRows() = default;

  /// Moves to the next row without parsing it. Returns false at the end.
  virtual Expected<bool> next() = 0;
  /// Parses the current row. Returns an error with the place of a bad row;
  /// reading can continue with the next row.
  virtual Status parse() = 0;
  /// Returns the columns of all rows that were parsed so far. New names in
  /// later rows are added at the end.
  virtual std::span<const RawColumn> columns() const = 0;
  /// Returns the number of the line or record of the current row, from 1.
  virtual int64_t line() const = 0;
  /// Returns the bytes of the current row, without a line break at their end.
  /// Empty for formats that do not store rows one after the other, such as
  /// Parquet. Valid until the next call of `next`.
  virtual std::string_view bytes() const = 0;
  /// Returns the header line, without its line break; empty if there is none.
  virtual std::string_view header() const { return {}; }
};

/// Returns the rows that `source` finds. `parser` finds their values, and `row`
/// collects them (`RowAssembler::discovering`).
std::unique_ptr<RawRows> makeRawRows(const std::string &path,
                                     std::unique_ptr<RowSource> source,
                                     std::unique_ptr<RowParser> parser,
                                     RowAssembler row);

/// Opens a file whose rows are lines, as `openLineReader` does.
Expected<std::unique_ptr<RawRows>>
openRawLines(const std::string &path, const RecordReaderOptions &options,
             std::unique_ptr<RowParser> parser, RowAssembler row,
             char comment = '\0');

/// Opens a delimited text file.
Expected<std::unique_ptr<RawRows>>
openRawCells(const std::string &path, const RecordReaderOptions &options);

/// Opens a safetensors file of columns. `X.values` and `X.splits` are the
/// column `X`, or `X.0`, `X.1` and so on if a row has several bags.
Expected<std::unique_ptr<RawRows>> openRawTensors(const std::string &path);

/// Opens a file in its format, with the flags of `data`, which must outlive the
/// result.
Expected<std::unique_ptr<RawRows>> openRawRows(const std::string &path,
                                               const DataOptions &data);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RAWROWS_H
