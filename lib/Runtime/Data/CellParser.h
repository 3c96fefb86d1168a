//===- CellParser.h - From a cell's text to a field's values ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CELLPARSER_H
#define LIB_RUNTIME_DATA_CELLPARSER_H

#include "Data/RecordColumns.h"
#include "pdlrt/Core/Status.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt {

/// `text` between backquotes, shortened and with control characters escaped,
/// for a sentence.
std::string quoteText(std::string_view text);

/// The decimal integer that is all of `text`, from -2^63 to 2^64 - 1 (the upper
/// half wraps); false if it is none.
bool parseInteger(std::string_view text, int64_t &value);

/// The number that is all of `text`, correctly rounded; false if it is none,
/// not finite, or too large for T. T is float or double.
template <typename T> bool parseNumber(std::string_view text, T &value);

/// Turns the cells of one field into values, as its descriptor says.
class CellParser {
public:
  /// Fails if the descriptor contradicts itself, for instance by a token for
  /// missing ids that is no id.
  static Expected<CellParser> create(const pdl_field &field);

  /// Appends the value of slot `slot` of a record, from its trimmed cell. An
  /// error says what is wrong with the text; the column is then to be rolled
  /// back.
  Status append(std::string_view cell, int64_t slot,
                RecordColumns::Column &column) const {
    return field->kind == PDL_FIELD_DENSE   ? appendNumber(cell, column)
           : field->element_type == PDL_I64 ? appendIds(cell, slot, column)
                                            : appendNumbers(cell, column);
  }

private:
  explicit CellParser(const pdl_field &field) : field(&field) {}
  Status appendNumber(std::string_view cell,
                      RecordColumns::Column &column) const;
  Status appendNumbers(std::string_view cell,
                       RecordColumns::Column &column) const;
  Status appendIds(std::string_view cell, int64_t slot,
                   RecordColumns::Column &column) const;
  bool parseId(std::string_view text, int64_t slot, int64_t &id) const;
  /// Takes the first of several off `rest`; whether a separator is behind it.
  bool cutFirst(std::string_view &rest, std::string_view &first) const;
  Status missing() const;
  void appendAs(double value, RecordColumns::Column &column) const;

  const pdl_field *field;
  /// Sorted by text.
  std::vector<std::pair<std::string_view, double>> valueMap;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CELLPARSER_H
