//===- RowReader.h - Reads rows that a parser names -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ROWREADER_H
#define LIB_RUNTIME_DATA_ROWREADER_H

#include "Data/FileFormat.h"
#include "Data/RecordReader.h"
#include "Data/RowAssembler.h"

#include <memory>
#include <string>
#include <string_view>

namespace pdlrt {

/// Finds the rows of a file. Not thread-safe.
class RowSource {
public:
  virtual ~RowSource() = default;

  /// Moves to the next row, whose bytes are valid until the next call. Returns
  /// false at the end of the file. After an error with `ReadWait::isLate`, the
  /// next call searches for the same row.
  virtual Expected<bool> next(std::string_view &row) = 0;
  /// Return the places of the current row and of the row after it. Lines and
  /// records are counted from 1.
  virtual RowPlace current() const = 0;
  virtual RowPlace following() const = 0;
  /// Continues at a place, not before the current row. Returns false if no row
  /// begins there.
  virtual Expected<bool> moveTo(const RowPlace &place) = 0;
};

/// Parses the bytes of rows into named values. Not thread-safe.
class RowParser {
public:
  virtual ~RowParser() = default;

  /// Adds the values of a row to `into`, which is clear. The bytes stay valid
  /// until the row is converted. On error, returns a message without a place
  /// and sets `column` to a byte of the row, from 1, or leaves it 0.
  virtual Status parse(std::string_view bytes, RowAssembler &into,
                       size_t &column) = 0;
};

/// Traits of the formats whose values have names and whose files are read from
/// the first to the last byte.
inline constexpr FormatTraits namedValueTraits = {.hasNames = true,
                                                  .hasIdTexts = true,
                                                  .mayBePacked = true,
                                                  .isCached = true};

/// Returns a reader of the rows that `source` finds. `parser` finds their
/// values, and `row` converts them.
std::unique_ptr<RecordReader> makeRowReader(const std::string &path,
                                            int32_t fileIndex,
                                            const RecordReaderOptions &options,
                                            std::unique_ptr<RowSource> source,
                                            std::unique_ptr<RowParser> parser,
                                            RowAssembler row);

/// Opens a source of the lines of a file. Lines that begin with `comment` are
/// no rows; 0: all lines are.
Expected<std::unique_ptr<RowSource>>
openLineSource(const std::string &path, const RecordReaderOptions &options,
               char comment = '\0');

/// Opens a file whose rows are lines. Lines that begin with `comment` are no
/// rows; 0: all lines are.
Expected<std::unique_ptr<RecordReader>>
openLineReader(const std::string &path, int32_t fileIndex,
               const RecordReaderOptions &options,
               std::unique_ptr<RowParser> parser, RowAssembler row,
               char comment = '\0');

/// Returns an error if flags are given that only delimited text has. `reason`:
/// why they mean nothing, such as "its values have names". `mayListColumns`:
/// --columns is allowed.
Status refuseCellFlags(const std::string &path, const DataOptions &data,
                       const std::string &reason, bool mayListColumns = false);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_ROWREADER_H
