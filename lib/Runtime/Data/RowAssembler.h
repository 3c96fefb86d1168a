//===- RowAssembler.h - Makes records of named values -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ROWASSEMBLER_H
#define LIB_RUNTIME_DATA_ROWASSEMBLER_H

#include "Data/CellParser.h"
#include "Data/NamedColumns.h"
#include "Data/RecordColumns.h"
#include "Data/RowValue.h"

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Collects the values of one row by the names of their columns, in any order,
/// and converts them into a record. A format's parser calls the first group of
/// functions, its reader the second. Not thread-safe.
class RowAssembler {
public:
  static Expected<RowAssembler> create(const RecordReaderOptions &options,
                                       const NamesOfField &namesOf);
  /// Returns an assembler for files that are read without a record (RawRows.h).
  /// It has no fields, and gets a column for each new name in a row. `known`:
  /// names of its first columns.
  static RowAssembler discovering(const std::vector<std::string> &known = {});
  /// Returns true if new names become columns.
  bool discovers() const { return isDiscovering; }

  /// Begins a row without values.
  void clear();
  /// Begins a row of which only these columns are used.
  void clear(std::span<const int32_t> columns);
  /// Returns the column with that name, or -1 if its values are not read. Fast
  /// if rows have the same names in the same order.
  int32_t columnOf(std::string_view name);
  const NamedColumns &columns() const { return named; }
  /// Returns true if the row has given the column, even without values.
  bool isGiven(int32_t column) const { return lists[size_t(column)].isGiven; }
  /// Returns true if the column has a list for each slot of a field of bags.
  bool hasLists(int32_t column) const { return lists[size_t(column)].isNested; }
  /// Marks a column as given. Its values follow.
  void begin(int32_t column) { lists[size_t(column)].isGiven = true; }
  /// Adds a value. Its text must stay valid until the row is converted.
  void add(int32_t column, const RowValue &value) {
    lists[size_t(column)].values.push_back(value);
  }
  /// Adds a text that stands alone, like a cell: separators of a field of bags
  /// divide it.
  void addCell(int32_t column, std::string_view text);
  /// Ends the list of one slot in a column with `hasLists`.
  void endList(int32_t column) {
    List &list = lists[size_t(column)];
    list.ends.push_back(list.values.size());
  }
  /// Notes that the row writes the value of a column alone, not in a list.
  void markAlone(int32_t column) { lists[size_t(column)].isAlone = true; }
  /// Undoes `begin`: the row has no value that a column can have.
  void withdraw(int32_t column) { lists[size_t(column)].isGiven = false; }
  /// Returns the values of a column, valid until the row is cleared.
  std::span<const RowValue> valuesOf(int32_t column) const {
    return lists[size_t(column)].values;
  }
  /// Returns true if the row has written the value of a column alone, not in a
  /// list (`markAlone`).
  bool isAlone(int32_t column) const { return lists[size_t(column)].isAlone; }
  /// Keeps a text until the row is cleared, and returns it.
  std::string &keep();

  /// Appends the values of the row to `into`, without committing it. Returns an
  /// error without the place of the row, after which the caller must roll back.
  Status append(RecordColumns &into);
  /// Does the same for one field of the program, and does not check what fields
  /// need together. For formats that convert a field of many rows at once.
  Status appendField(size_t index, RecordColumns::Column &column);
  /// Returns a digest of the positions at which missing ids of a bag of the
  /// last row were omitted; 0: none.
  uint64_t leftOutOf(size_t index, size_t slot) const {
    return parsers[index].leftOutOf(slot);
  }
  /// Returns the text that predictions copy, valid until the next call.
  /// `isGood`: the row was converted.
  std::string_view copied(bool isGood);
  /// Logs warnings about values that all rows lacked, or that were written in a
  /// doubtful form. Call after the last row of a file.
  void warn(const std::string &path) const;

private:
  struct List {
    std::vector<RowValue> values;
    std::vector<size_t> ends;
    bool isGiven = false, wasGiven = false, isNested = false, isAlone = false;
    /// Field of bags whose separator divides texts of this column; null: none.
    const pdl_field *bags = nullptr;
  };
  /// A name in a row, and its column.
  struct Seen {
    std::string name;
    int32_t column;
  };

  explicit RowAssembler(NamedColumns columns) : named(std::move(columns)) {}
  Status appendSlots(size_t index, RecordColumns::Column &column);
  Status findSlots(size_t index);
  std::string_view cellTextOf(const RowValue &value);

  NamedColumns named;
  const pdl_program *program = nullptr;
  bool copiesTexts = false;
  bool isDiscovering = false;
  std::vector<const pdl_field *> fields;
  std::vector<CellParser> parsers;
  std::vector<List> lists;
  /// Names in the order of the last row, and the position in it.
  std::vector<Seen> order;
  size_t position = 0;
  int64_t rows = 0;
  std::deque<std::string> kept;
  size_t keptCount = 0;
  /// Values of each slot of the current field.
  std::vector<std::span<const RowValue>> slots;
  std::vector<std::string_view> divided;
  std::string texts;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_ROWASSEMBLER_H
