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

#include <algorithm>
#include <cstdint>
#include <optional>
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

/// Whether a trimmed text says that a field has no value: it is empty or one of
/// the record's texts of missing values.
bool isMissingText(const pdl_field &field, std::string_view text);

/// What stands for a missing number of a tensor, in a bag for one of its
/// elements; none: nothing does.
std::optional<double> missingNumberOf(const pdl_field &field);

/// The key of a trimmed text, which is not missing, in that slot of a field of
/// ids; false where the field does not hash and the text is no decimal integer.
bool keyOfText(const pdl_field &field, std::string_view text, int64_t slot,
               int64_t &key);

/// The number that is all of `text`, correctly rounded; false if it is none,
/// not finite, or too large for T. T is float or double.
template <typename T> bool parseNumber(std::string_view text, T &value);

/// Turns the cells of one field into values, as its descriptor says.
class CellParser {
public:
  /// Fails if the descriptor contradicts itself, for instance by a token for
  /// missing ids that is no id.
  static Expected<CellParser> create(const pdl_field &field);

  /// Appends the values of a record: that of slot s is the trimmed text
  /// cells[slots[s]], of `row`, which has 8 more bytes before it, or of text
  /// beside it. An error says what is wrong with the text of slot `failed`; the
  /// column is then to be rolled back.
  Status append(std::string_view row, const std::string_view *cells,
                const std::vector<int64_t> &slots,
                RecordColumns::Column &column, size_t &failed);

  /// How many hashed ids so far were whole numbers with `.0` at their end, as
  /// programs write them that keep ids as floats, and the first of them.
  int64_t decimalIds() const { return decimals; }
  const std::string &firstDecimalId() const { return firstDecimal; }
  /// Returns a digest of the positions at which missing ids of a bag of the
  /// last record were left out; 0: none was.
  uint64_t leftOutOf(size_t slot) const {
    return slot < leftOut.size() ? leftOut[slot] : 0;
  }

private:
  explicit CellParser(const pdl_field &field) : field(&field) {}
  template <typename T>
  Status appendNumbers(std::string_view row, const std::string_view *cells,
                       const std::vector<int64_t> &slots,
                       RecordColumns::Column &column, size_t &failed) const;
  Status appendIds(const std::string_view *cells,
                   const std::vector<int64_t> &slots,
                   RecordColumns::Column &column, size_t &failed);
  /// The number that a text stands for by the field's declaration; null if it
  /// stands for none.
  const double *mapped(std::string_view text) const;
  /// The one number, or id, of a cell.
  template <typename T> Status numberOf(std::string_view cell, T &value) const;
  Status idOf(std::string_view cell, int64_t slot, int64_t &id);
  /// Those of a bag.
  template <typename T>
  Status appendNumbersOf(std::string_view cell,
                         RecordColumns::Column &column) const;
  Status appendIdsOf(std::string_view cell, int64_t slot,
                     RecordColumns::Column &column);
  uint64_t seedOf(int64_t slot) const;
  bool parseId(std::string_view text, int64_t slot, int64_t &id) const {
    return keyOfText(*field, text, slot, id);
  }
  /// Takes the first of several off `rest`; whether a separator is behind it.
  bool cutFirst(std::string_view &rest, std::string_view &first) const;
  bool isMissing(std::string_view text) const {
    return mayBeMissing(text.size()) && isMissingText(*field, text);
  }
  /// Whether a text of a missing value has so many bytes.
  bool mayBeMissing(size_t size) const {
    return missingSizes >> std::min<size_t>(size, 63) & 1;
  }
  Status missing() const;
  Status noInteger(std::string_view text) const;

  /// Counts a hashed id if it ends in `.0`.
  void noteHashed(std::string_view text) {
    if (text.ends_with(".0")) [[unlikely]]
      noteDecimal(text);
  }
  void noteDecimal(std::string_view text);

  const pdl_field *field;
  int64_t decimals = 0;
  std::string firstDecimal;
  /// By bit, whether a text of a missing value has so many bytes; the last bit
  /// is of all larger sizes.
  uint64_t missingSizes = 1;
  /// Whether a text of a missing value is a number.
  bool isMissingNumber = false;
  /// Of the last record, by slot: where missing ids were left out; 0: nowhere.
  std::vector<uint64_t> leftOut;
  /// Sorted by text.
  std::vector<std::pair<std::string_view, double>> valueMap;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CELLPARSER_H
