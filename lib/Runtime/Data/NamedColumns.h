//===- NamedColumns.h - Columns that are found by name ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_NAMEDCOLUMNS_H
#define LIB_RUNTIME_DATA_NAMEDCOLUMNS_H

#include "Data/RecordReader.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Names of the columns of a field, in a format whose rows name their values.
struct FieldNames {
  /// Column with the values of all slots; empty: none.
  std::string whole;
  /// Column of each slot; empty: none.
  std::vector<std::string> slots;
  /// If true, a number that a row leaves out is 0, as in sparse formats.
  bool absentIsZero = false;
};

/// Returns the names of the columns of field `index` of the record.
using NamesOfField = std::function<Expected<FieldNames>(size_t index)>;

/// Maps the names in rows to the fields that a program reads. Depends on flags
/// and model only. Thread-safe after creation.
class NamedColumns {
public:
  /// Columns of a field, as indices into `names`. -1: no such column.
  struct FieldColumns {
    int32_t whole = -1;
    std::vector<int32_t> slots;
    bool absentIsZero = false;
  };

  /// Creates the map for the fields of `options.program`, the field of --id and
  /// the columns of --copy-column.
  static Expected<NamedColumns> create(const RecordReaderOptions &options,
                                       const NamesOfField &namesOf);

  /// Returns the index of a column. Adds it if there is none with that name.
  int32_t add(const std::string &name);
  /// Returns the distinct names of all columns that are read.
  const std::vector<std::string> &names() const { return all; }
  /// Returns the index of a column, or -1 if it is not read.
  int32_t find(std::string_view name) const;
  /// Returns the columns of each field, by field of the program.
  const std::vector<FieldColumns> &fields() const { return byField; }
  /// Returns the columns that predictions copy.
  const std::vector<int32_t> &copied() const { return copiedColumns; }

private:
  FieldColumns columnsOf(const FieldNames &names);

  std::vector<std::string> all;
  std::map<std::string, int32_t, std::less<>> byName;
  std::vector<FieldColumns> byField;
  std::vector<int32_t> copiedColumns;
};

/// Returns the names of a field's columns in a format whose rows name their
/// values like the fields: those of `columns(...)`; otherwise `NAME` for all
/// slots, and `NAME.0`, `NAME.1` and so on. Returns an error if the field
/// declares positions. `format`: the name of the format in messages.
/// `hasLists`: one column can have a list for each slot of a field of bags.
Expected<FieldNames> namesLikeField(const pdl_field &field,
                                    std::string_view format,
                                    bool hasLists = false);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_NAMEDCOLUMNS_H
