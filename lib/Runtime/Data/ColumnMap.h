//===- ColumnMap.h - Maps columns of a file to fields -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNMAP_H
#define LIB_RUNTIME_DATA_COLUMNMAP_H

#include "Data/RecordReader.h"
#include "pdlabi/abi/record.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Parses `text` as a column number from 1, and returns the index from 0.
/// Returns none if `text` is not a column number.
std::optional<int64_t> columnNumberOf(const std::string &text);

/// Returns the name of a field in messages.
std::string fieldText(const pdl_field &field);

/// Maps the fields that a program reads to columns of a delimited file. The map
/// depends on flags, header and model, never on the number of cells in a row.
class ColumnMap {
public:
  /// Creates the map. The flags must have passed `checkDataFlags`. Uses the
  /// first that applies: `--columns`; the names in `header` (null if the file
  /// has none), if it contains names of fields; all columns of the record, in
  /// the order of its fields.
  static Expected<ColumnMap> create(const RecordReaderOptions &options,
                                    const std::vector<std::string> *header);

  /// Returns the columns of each field's slots, by field of the program.
  const std::vector<std::vector<int64_t>> &fields() const { return columns; }
  /// Returns the columns that are copied to predictions.
  const std::vector<int64_t> &copied() const { return copiedColumns; }
  /// Returns true if a column is found by its position instead of a name in the
  /// header.
  bool isByPosition() const { return byPosition; }
  /// Returns a warning, without the file name, that the header lacks names of
  /// fields that are read. Empty if there is nothing to warn about.
  const std::string &unnamedText() const { return unnamed; }
  /// Returns a message if rows must not have that number of cells, otherwise an
  /// empty text.
  std::string checkCells(int64_t cells) const;

private:
  using Header = std::vector<std::string>;
  explicit ColumnMap(const RecordReaderOptions &options);

  void mapByFlag();
  Status mapByModel(const Header *header);
  Status findCopied(const Header *header);
  const pdl_field &field(size_t index) const {
    return options->descriptor.fields[index];
  }

  const RecordReaderOptions *options;
  /// Indexed by field of the record. `isRead`: true if the program reads the
  /// field. `byField`: columns of the field, empty if the file has none.
  std::vector<bool> isRead;
  std::vector<std::vector<int64_t>> byField;
  /// Columns by field of the program.
  std::vector<std::vector<int64_t>> columns;
  std::vector<int64_t> copiedColumns;
  bool byPosition = false;
  std::string unnamed;
  /// Error message: a field that the program reads is not in the header. Empty
  /// if all are.
  std::string lacking;
  /// Required number of cells in a row. None: any number that includes the
  /// columns that are read.
  std::optional<int64_t> cellCount;
  /// Text that says what determines `cellCount`.
  std::string counted;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNMAP_H
