//===- RowWriter.h - Writes rows in a data format ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_ROWWRITER_H
#define PDL_TOOLS_PDL_DATA_ROWWRITER_H

#include "Data/ColumnFileApi.h"
#include "Data/RowValue.h"
#include "Output.h"
#include "pdlabi/abi/record.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// A field of rows to write: of a record, or a column of a file that is
/// converted without one.
struct WrittenField {
  std::string name;
  int64_t width = 1;
  bool isBag = false;
  bool isNumber = false;
  bool isF64 = false;
  bool isInteger = false; ///< All values are integers, which are not hashed.
  bool isTruth = false;   ///< All values are truth values.
  char separator = 0;     ///< Of the values in a cell; 0: none.
  /// A missing value keeps its position in a bag (missing_element).
  bool keepsMissing = false;
  /// The clause columns(...): names or positions; both empty: none.
  std::vector<std::string> columnNames = {};
  std::vector<int64_t> columnPositions = {};

  static WrittenField of(const pdl_field &field);
  /// Returns the name of a slot: that of columns(...), NAME, or NAME.0 and so
  /// on.
  std::string slotName(int64_t slot) const;
};

/// The values of one slot in a row.
struct WrittenSlot {
  std::vector<pdlrt::RowValue> values;
  /// Converted without a record: the value is written alone, not in a list.
  bool isAlone = false;
  /// Converted without a record: the row has the column. Otherwise it has no
  /// values.
  bool isGiven = true;
};

/// The slots of all fields in a row, in the order of the fields.
using WrittenRow = std::vector<WrittenSlot>;

/// Writes rows in one format. Not thread-safe.
class RowWriter {
public:
  virtual ~RowWriter() = default;

  /// Sets the fields. Returns an error that names a field which the format
  /// cannot express, and the reason.
  virtual pdlrt::Status begin(const std::vector<WrittenField> &fields) = 0;
  /// Writes a row. Errors name the field and the reason.
  virtual pdlrt::Status write(const WrittenRow &row) = 0;
  /// Writes the end of the file. Call once, after the last row.
  virtual pdlrt::Status end() { return {}; }
};

/// Returns a writer of delimited text. `header`: writes the names first.
std::unique_ptr<RowWriter> makeCellWriter(Output &output, char delimiter,
                                          bool header);
/// Returns a writer of JSON lines.
std::unique_ptr<RowWriter> makeJsonWriter(Output &output);
/// Returns a writer of TFRecord files of tf.train.Example.
std::unique_ptr<RowWriter> makeExampleWriter(Output &output);
/// Returns a writer of `slot:value` or `value:slot` lines.
std::unique_ptr<RowWriter> makePairWriter(Output &output, bool isSlotFirst);
std::unique_ptr<RowWriter> makeMultiSlotWriter(Output &output);
std::unique_ptr<RowWriter> makeLibsvmWriter(Output &output);
std::unique_ptr<RowWriter> makeLibffmWriter(Output &output);

/// Returns a writer of Parquet or Arrow IPC files, whose texts must be UTF-8.
std::unique_ptr<RowWriter> makeColumnWriter(Output &output,
                                            PdlColumnFormat format);

/// Returns the error of a field that a format cannot express.
pdlrt::Status cannotWrite(const WrittenField &field, const std::string &why);
/// Appends a value as a token between blanks. Returns an error if it has a
/// blank.
pdlrt::Status appendToken(const WrittenField &field,
                          const pdlrt::RowValue &value, std::string &line);
/// Returns true if the value is no value.
bool isMissing(const pdlrt::RowValue &value);
/// Returns an error if a bag has a missing value that the format would drop
/// although its position matters.
pdlrt::Status checkDropped(const WrittenField &field, const WrittenSlot &slot);

#endif // PDL_TOOLS_PDL_DATA_ROWWRITER_H
