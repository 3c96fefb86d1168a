//===- ColumnMap.h - Which column of a file is which field ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNMAP_H
#define LIB_RUNTIME_DATA_COLUMNMAP_H

#include "Data/RecordReader.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// The column, from 0, whose number from 1 is `text`; none where it is none.
std::optional<int64_t> columnNumberOf(const std::string &text);

/// What messages call a field.
std::string fieldText(const pdl_field &field);

/// Where the fields that a program reads stand in the rows of a delimited file.
/// It follows from what the user and the model say, never from how many cells
/// a row happens to have.
class ColumnMap {
public:
  /// The flags have passed `checkDataFlags`. In this order: what `--columns`
  /// says; the names in the header (null: the file has none), where it has
  /// names of fields; else the columns of the record, all of them, in the order
  /// of its fields.
  static Expected<ColumnMap> create(const RecordReaderOptions &options,
                                    const std::vector<std::string> *header);

  /// By field of the program, the columns of its slots.
  const std::vector<std::vector<int64_t>> &fields() const { return columns; }
  /// The columns that stand beside predictions.
  const std::vector<int64_t> &copied() const { return copiedColumns; }
  /// Whether a column that is read is found by its position, not by its name
  /// in the header.
  bool isByPosition() const { return byPosition; }
  /// A warning, without the file, that the header does not name all fields that
  /// are read; empty if there is nothing to warn of.
  const std::string &unnamedText() const { return unnamed; }
  /// What is wrong with rows of so many cells; empty where nothing is.
  std::string checkCells(int64_t cells) const;

private:
  using Header = std::vector<std::string>;
  explicit ColumnMap(const RecordReaderOptions &options);

  void mapByFlag();
  Status mapByModel(const Header *header);
  std::string textOfUnnamed(const Header &header) const;
  Status findCopied(const Header *header);
  const pdl_field &field(size_t index) const {
    return options->descriptor.fields[index];
  }

  const RecordReaderOptions *options;
  /// By field of the record: whether the program reads it, and its columns,
  /// none where the file has none.
  std::vector<bool> isRead;
  std::vector<std::vector<int64_t>> byField;
  /// The same of the fields of the program.
  std::vector<std::vector<int64_t>> columns;
  std::vector<int64_t> copiedColumns;
  bool byPosition = false;
  std::string unnamed;
  /// How many cells every row has; none: those that are read, or more.
  std::optional<int64_t> cellCount;
  /// Who says so.
  std::string counted;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNMAP_H
