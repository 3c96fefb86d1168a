//===- CellParser.h - Parses the text of cells ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CELLPARSER_H
#define LIB_RUNTIME_DATA_CELLPARSER_H

#include "Data/RecordColumns.h"
#include "Data/RowValue.h"
#include "pdlabi/abi/record.h"
#include "pdlrt/Core/Status.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt {

/// Returns `text` between backquotes for a message. Shortens it and escapes
/// control characters.
std::string quoteText(std::string_view text);

/// Parses `text` as a decimal integer from -2^63 to 2^64 - 1; the upper half
/// wraps. Returns false if it is not one.
bool parseInteger(std::string_view text, int64_t &value);

/// Returns true if a trimmed text means that a field has no value: it is empty
/// or one of the record's texts for missing values.
bool isMissingText(const pdl_field &field, std::string_view text);

/// Returns the replacement for a missing number of a tensor; for a bag, the
/// replacement of one element. None if the field has none.
std::optional<double> missingNumberOf(const pdl_field &field);

/// Converts a trimmed, not missing text into the key of that slot of an id
/// field. Returns false if the field does not hash and the text is not a
/// decimal integer.
bool keyOfText(const pdl_field &field, std::string_view text, int64_t slot,
               int64_t &key);

/// Parses `text` as a number, correctly rounded. Returns false if it is not a
/// number, not finite, or too large for T, which is float or double.
template <typename T> bool parseNumber(std::string_view text, T &value);

/// Converts the cells of one field into values, according to its descriptor.
class CellParser {
public:
  /// Fails if the descriptor is inconsistent, for instance if the token for
  /// missing ids is not an id.
  static Expected<CellParser> create(const pdl_field &field);

  /// Appends the values of a record. The value of slot s is the trimmed text
  /// cells[slots[s]]. The text is a part of `row`, before which 8 more bytes
  /// must be readable, or of other memory. On error, returns the reason and
  /// sets `failed` to the slot; the caller must then roll back the column.
  Status append(std::string_view row, const std::string_view *cells,
                const std::vector<int64_t> &slots,
                RecordColumns::Column &column, size_t &failed);
  /// Appends the values of a record that are not cells of text. `slots`: the
  /// values of each slot; none: missing.
  Status append(std::span<const std::span<const RowValue>> slots,
                RecordColumns::Column &column, size_t &failed);

  /// Returns the number of hashed ids so far that were integers followed by
  /// `.0`, and the first of them. Programs that keep ids as floats write them
  /// in this form.
  int64_t decimalIds() const { return decimals; }
  const std::string &firstDecimalId() const { return firstDecimal; }
  /// Returns a digest of the positions at which missing ids of a bag of the
  /// last record were omitted; 0: none.
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
  /// Returns the number to which the field's declaration maps a text, or null.
  const double *mapped(std::string_view text) const;
  /// Parse the only number or id of a cell.
  template <typename T> Status numberOf(std::string_view cell, T &value) const;
  template <typename T> Status numberOf(const RowValue &value, T &number) const;
  Status idOf(std::string_view cell, int64_t slot, int64_t &id);
  Status idOf(const RowValue &value, int64_t slot, int64_t &id);
  /// Append the numbers or ids of a bag. `next(element)` returns false after
  /// the last one. `isEmpty`: the bag is missing.
  template <typename T, typename Element, typename Next>
  Status appendNumberBag(bool isEmpty, Next next,
                         RecordColumns::Column &column) const;
  template <typename Next>
  Status appendIdBag(bool isEmpty, int64_t slot, Next next,
                     RecordColumns::Column &column);
  /// Append the numbers or ids of a bag in a cell.
  template <typename T>
  Status appendNumbersOf(std::string_view cell,
                         RecordColumns::Column &column) const;
  Status appendIdsOf(std::string_view cell, int64_t slot,
                     RecordColumns::Column &column);
  /// Append the numbers or ids of a slot.
  template <typename T>
  Status appendNumberValues(std::span<const std::span<const RowValue>> slots,
                            RecordColumns::Column &column,
                            size_t &failed) const;
  Status appendIdValues(std::span<const std::span<const RowValue>> slots,
                        RecordColumns::Column &column, size_t &failed);
  std::string_view idTextOf(const RowValue &value);
  uint64_t seedOf(int64_t slot) const;
  bool parseId(std::string_view text, int64_t slot, int64_t &id) const {
    return keyOfText(*field, text, slot, id);
  }
  /// Splits the first element off `rest`. Returns true if a separator follows
  /// it.
  bool cutFirst(std::string_view &rest, std::string_view &first) const;
  bool isMissing(std::string_view text) const {
    return mayBeMissing(text.size()) && isMissingText(*field, text);
  }
  bool isMissing(const RowValue &value) const;
  bool isMapped(std::string_view text) const { return mapped(text); }
  bool isMapped(const RowValue &value) const {
    return value.kind == RowValue::Kind::Text && mapped(value.text);
  }
  /// Returns true if some text for a missing value has this length.
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
  char digits[24]; ///< Text of an integer.
  int64_t decimals = 0;
  std::string firstDecimal;
  /// Bit i is set if a text for a missing value has i bytes; the last bit
  /// stands for all larger sizes.
  uint64_t missingSizes = 1;
  /// True if a text for a missing value is a number.
  bool isMissingNumber = false;
  /// Indexed by slot of the last record: digest of the positions of omitted
  /// ids; 0: none.
  std::vector<uint64_t> leftOut;
  /// Sorted by text.
  std::vector<std::pair<std::string_view, double>> valueMap;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CELLPARSER_H
