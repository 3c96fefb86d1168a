//===- ColumnBinding.h - Finds the columns of fields in a file --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNBINDING_H
#define LIB_RUNTIME_DATA_COLUMNBINDING_H

#include "Data/ColumnFileApi.h"
#include "Data/ColumnType.h"
#include "Data/NamedColumns.h"
#include "Data/RecordReader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// The columns of a file, or of its folders' names, that a program reads.
struct ColumnBinding {
  /// Source of the values of a name (NamedColumns::names).
  struct Source {
    /// Index in `selected`; -1: all rows have the value `constant`.
    int32_t column = -1;
    /// Value in the name of a folder; none: missing, or not in the file.
    std::optional<std::string> constant;
    bool isKnown = false; ///< The file or a folder has the name.
  };
  /// Sources of the values of one field of the program.
  struct Field {
    bool isWhole = false; ///< One column has the values of all slots.
    /// Names that are read, as indices into NamedColumns::names.
    std::vector<int32_t> names;
    /// Columns as ColumnField takes them.
    std::vector<int32_t> columns;
  };

  std::vector<Source> sources; ///< By name.
  std::vector<Field> fields;   ///< By field of the program.
  /// Columns of the file to decode, ascending, and their types. If nothing is
  /// read, a column that only counts rows, with no type.
  std::vector<int32_t> selected;
  std::vector<ColumnType> types;
  /// Indexed like `selected`: true if a field of the program reads the column.
  std::vector<bool> isRead;

  /// Finds the columns. Returns an error, without the path, if the file lacks a
  /// column, or has one of an unsuitable type. Warns about fields that the file
  /// lacks but that have a value for missing ones.
  static Expected<ColumnBinding> create(const PdlColumnSchema &schema,
                                        const std::string &path,
                                        const NamedColumns &columns,
                                        const RecordReaderOptions &options);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNBINDING_H
