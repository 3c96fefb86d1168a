//===- CellParser.cpp - Parses the text of cells --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellParser.h"

#include "Data/CellSplitter.h"
#include "pdlabi/hash.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>
#include <xxhash.h>

using namespace pdlrt;

bool pdlrt::isMissingText(const pdl_field &field, std::string_view text) {
  if (text.empty() || !field.missing_texts)
    return text.empty() || text == "?";
  return std::any_of(field.missing_texts,
                     field.missing_texts + field.missing_text_count,
                     [&](const char *missing) { return text == missing; });
}

std::optional<double> pdlrt::missingNumberOf(const pdl_field &field) {
  if (field.kind == PDL_FIELD_RAGGED &&
      field.missing_element_kind == PDL_MISSING_VALUE)
    return field.missing_element_value;
  if (field.missing_kind == PDL_MISSING_VALUE)
    return field.missing_value;
  return std::nullopt;
}

static uint64_t hashSeed(const pdl_field &field, int64_t slot) {
  return field.salt_kind == PDL_SALT_SLOT ? static_cast<uint64_t>(slot)
                                          : field.salt;
}

bool pdlrt::keyOfText(const pdl_field &field, std::string_view text,
                      int64_t slot, int64_t &key) {
  if (field.hash_kind == PDL_HASH_NONE)
    return parseInteger(text, key);
  key = static_cast<int64_t>(pdlabi::hashText(text, hashSeed(field, slot)));
  return true;
}

std::string pdlrt::quoteText(std::string_view text) {
  constexpr size_t longest = 40;
  std::string out = "`";
  for (char c : text.substr(0, longest)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
      continue;
    }
    const char *digits = "0123456789abcdef";
    out += "\\x";
    out += digits[byte / 16];
    out += digits[byte % 16];
  }
  // An incomplete UTF-8 character at the cut would make the message
  // unprintable.
  if (text.size() > longest) {
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0x80))
      out.pop_back();
    out += "...";
  }
  return out + "`";
}

bool pdlrt::parseInteger(std::string_view text, int64_t &value) {
  const bool plus = text.starts_with('+');
  text.remove_prefix(plus ? 1 : 0);
  const char *end = text.data() + text.size();
  if (!plus && text.starts_with('-')) {
    auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end;
  }
  uint64_t bits = 0;
  auto result = std::from_chars(text.data(), end, bits);
  value = static_cast<int64_t>(bits);
  return result.ec == std::errc() && result.ptr == end;
}

/// Parses a number outside the range of T. Too small numbers are rounded to a
/// denormal or zero; too large ones are rejected. Rare, so strtof, strtod and a
/// copy are fast enough.
template <typename T>
static bool parseExtreme(std::string_view text, T &value) {
  const std::string copy(text);
  char *end = nullptr;
  if constexpr (sizeof(T) == sizeof(float))
    value = std::strtof(copy.c_str(), &end);
  else
    value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() && std::isfinite(value);
}

template <typename T> bool pdlrt::parseNumber(std::string_view text, T &value) {
  const char *p = text.data();
  const char *end = p + text.size();
  bool negative = false;
  if (p != end && (*p == '-' || *p == '+')) {
    negative = *p == '-';
    ++p;
  }
  // Most numbers are short integers, which convert with one rounding.
  if (p != end && end - p <= 18) {
    int64_t digits = 0;
    const char *q = p;
    for (; q != end && *q >= '0' && *q <= '9'; ++q)
      digits = 10 * digits + (*q - '0');
    if (q == end) {
      value = static_cast<T>(digits);
      value = negative ? -value : value;
      return true;
    }
  }
  // from_chars does not accept a plus sign, and would accept a second sign.
  if (p == end || *p == '-' || *p == '+')
    return false;
  auto result = std::from_chars(p, end, value);
  if (result.ec == std::errc::result_out_of_range && result.ptr == end) {
    if (!parseExtreme(std::string_view(p, static_cast<size_t>(end - p)), value))
      return false;
  } else if (result.ec != std::errc() || result.ptr != end ||
             !std::isfinite(value)) {
    return false;
  }
  value = negative ? -value : value;
  return true;
}

template bool pdlrt::parseNumber(std::string_view, float &);
template bool pdlrt::parseNumber(std::string_view, double &);

Expected<CellParser> CellParser::create(const pdl_field &field) {
  CellParser parser(field);
  for (int64_t i = 0; i < field.value_count; ++i)
    parser.valueMap.emplace_back(trim(field.value_texts[i]),
                                 field.value_numbers[i]);
  std::sort(parser.valueMap.begin(), parser.valueMap.end());
  if (!field.missing_texts)
    parser.missingSizes |= 1 << 1;
  for (int64_t i = 0; field.missing_texts && i < field.missing_text_count;
       ++i) {
    const std::string_view text = field.missing_texts[i];
    double number;
    parser.missingSizes |= uint64_t(1) << std::min<size_t>(text.size(), 63);
    parser.isMissingNumber |= parseNumber(text, number);
  }

  const bool isFloat = field.element_type != PDL_I64;
  const bool fits = field.missing_kind == PDL_MISSING_ERROR ||
                    (field.missing_kind == PDL_MISSING_VALUE && isFloat) ||
                    (field.missing_kind == PDL_MISSING_EMPTY &&
                     field.kind == PDL_FIELD_RAGGED) ||
                    (field.missing_kind == PDL_MISSING_TOKEN && !isFloat &&
                     field.missing_token);
  if (!fits)
    return Status::internal(std::string("field `") + field.name +
                            "` has a rule for missing values that does not "
                            "suit its kind; compile the model again");
  int64_t id;
  for (const auto &[kind, token] :
       {std::pair(field.missing_kind, field.missing_token),
        std::pair(field.missing_element_kind, field.missing_element_token)})
    if (kind == PDL_MISSING_TOKEN && !parser.parseId(token, 0, id))
      return Status::invalidArgument(
          std::string("field `") + field.name +
          "` takes ids as decimal integers, but its token for missing ones "
          "is " +
          quoteText(token) + "; use an integer in missing(...)");
  return parser;
}

Status CellParser::missing() const {
  return Status::invalidArgument("the value is missing, and the field has no "
                                 "missing(...) to stand for it");
}

static Status tooMany(size_t values) {
  return Status::invalidArgument(
      "there are " + std::to_string(values) +
      " values where the field has one; a field of bags "
      "has several");
}

const double *CellParser::mapped(std::string_view text) const {
  auto found = std::lower_bound(valueMap.begin(), valueMap.end(), text,
                                [](const auto &entry, std::string_view wanted) {
                                  return entry.first < wanted;
                                });
  return found != valueMap.end() && found->first == text ? &found->second
                                                         : nullptr;
}

/// Returns true for texts with which other programs write missing numbers.
static bool meansMissing(std::string_view cell) {
  static constexpr std::string_view texts[] = {
      "nan", "na", "n/a", "null", "none", "nil", "missing", "-", ".", "\\n"};
  std::string lower(cell);
  std::ranges::transform(lower, lower.begin(), [](unsigned char byte) {
    return static_cast<char>(std::tolower(byte));
  });
  return std::ranges::find(texts, lower) != std::end(texts);
}

template <typename T>
Status CellParser::numberOf(std::string_view cell, T &value) const {
  if (const double *number = mapped(cell)) {
    value = static_cast<T>(*number);
    return {};
  }
  if (isMissing(cell)) {
    if (field->missing_kind != PDL_MISSING_VALUE)
      return missing();
    value = static_cast<T>(field->missing_value);
    return {};
  }
  if (!valueMap.empty()) {
    std::string known;
    for (size_t i = 0; i < valueMap.size() && i < 8; ++i)
      known += (i ? ", " : "") + quoteText(valueMap[i].first);
    return Status::invalidArgument(
        quoteText(cell) + " is none of the texts that the field declares (" +
        known + (valueMap.size() > 8 ? ", ...)" : ")"));
  }
  return parseNumber(cell, value)
             ? Status()
             : Status::invalidArgument(
                   quoteText(cell) + " is not a finite number" +
                   (meansMissing(cell) ? "; if it stands for a missing number, "
                                         "write missing_texts([\"?\", \"" +
                                             std::string(cell) +
                                             "\"]) in the record of the model, "
                                             "and missing(0.0) in the field"
                                       : ""));
}

/// Parses an integer of at most 7 digits, which is exact in f32. A text without
/// digits is 0. Returns false if the text is not such an integer. The 8 bytes
/// before its end must be readable. Does not branch on the number of digits,
/// because it varies between cells.
static bool parseShort(std::string_view text, uint32_t &value) {
  if (text.size() > 7)
    return false;
  uint64_t bytes;
  std::memcpy(&bytes, text.data() + text.size() - 8, 8);
  // Bytes before the text become zeros; the last digit is in the highest byte.
  constexpr uint64_t zeros = 0x3030303030303030;
  const uint64_t own = ~uint64_t(0) << (63 - 8 * text.size()) << 1;
  bytes = (bytes & own) | (zeros & ~own);
  const uint64_t digits = bytes - zeros;
  if (((bytes + 0x4646464646464646) | digits) & 0x8080808080808080)
    return false;
  // Adjacent digits are combined into numbers of two, four and eight digits.
  const uint64_t pairs = digits * 10 + (digits >> 8);
  constexpr uint64_t mask = 0x000000ff000000ff;
  value = static_cast<uint32_t>(
      ((pairs & mask) * (100 + (uint64_t(1000000) << 32)) +
       ((pairs >> 16) & mask) * (1 + (uint64_t(10000) << 32))) >>
      32);
  return true;
}

/// Returns `missing` or `number` without a branch, because missing numbers are
/// unpredictable. Compilers generate a branch for simpler code.
template <typename T> static T choose(bool isMissing, T missing, T number) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  Bits mask = Bits(0) - Bits(isMissing);
  asm("" : "+r"(mask)); // NOLINT: it knows that this is 0 or all ones
  return std::bit_cast<T>((std::bit_cast<Bits>(missing) & mask) |
                          (std::bit_cast<Bits>(number) & ~mask));
}

template <typename T>
Status
CellParser::appendNumbers(std::string_view row, const std::string_view *cells,
                          const std::vector<int64_t> &slots,
                          RecordColumns::Column &column, size_t &failed) const {
  if (field->kind == PDL_FIELD_RAGGED) {
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      failed = slot;
      PDLRT_RETURN_IF_ERROR(appendNumbersOf<T>(cells[slots[slot]], column));
    }
    return {};
  }
  T *values = column.extend<T>(slots.size());
  const bool isPlain = valueMap.empty() && !isMissingNumber;
  const bool mayMiss = field->missing_kind == PDL_MISSING_VALUE;
  const char *first = row.data(), *last = row.data() + row.size();
  const T missing = static_cast<T>(field->missing_value);
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const std::string_view cell = cells[slots[slot]];
    const char *begin = cell.data();
    uint32_t number;
    if (isPlain && std::less_equal<>()(first, begin) &&
        std::less_equal<>()(begin, last) && (mayMiss | !cell.empty()) &&
        parseShort(cell, number)) {
      values[slot] = choose(cell.empty(), missing, static_cast<T>(number));
      continue;
    }
    failed = slot;
    PDLRT_RETURN_IF_ERROR(numberOf(cell, values[slot]));
  }
  return {};
}

bool CellParser::cutFirst(std::string_view &rest,
                          std::string_view &first) const {
  first = rest;
  rest = {};
  if (field->kind != PDL_FIELD_RAGGED || !field->separator)
    return false;
  const size_t cut = first.find(static_cast<char>(field->separator));
  const bool hasMore = cut != std::string_view::npos;
  if (hasMore) {
    rest = first.substr(cut + 1);
    first = first.substr(0, cut);
  }
  first = trim(first);
  return hasMore;
}

/// Appends one bag. Unlike a missing id, a missing number is not omitted,
/// because later numbers would then belong to other ids. A separator at the end
/// of the cell only ends the last value, unless the field has a replacement for
/// missing values.
template <typename T>
Status CellParser::appendNumbersOf(std::string_view cell,
                                   RecordColumns::Column &column) const {
  std::string_view rest = cell;
  if (field->missing_element_kind != PDL_MISSING_VALUE && field->separator &&
      rest.ends_with(char(field->separator)))
    rest = trim(rest.substr(0, rest.size() - 1));
  bool hasMore = !isMissing(rest);
  return appendNumberBag<T, std::string_view>(
      !hasMore,
      [&](std::string_view &text) {
        if (!hasMore)
          return false;
        hasMore = cutFirst(rest, text);
        return true;
      },
      column);
}

template <typename T, typename Element, typename Next>
Status CellParser::appendNumberBag(bool isEmpty, Next next,
                                   RecordColumns::Column &column) const {
  const bool hasElement = field->missing_element_kind == PDL_MISSING_VALUE;
  if (isEmpty) {
    if (field->missing_kind == PDL_MISSING_VALUE)
      column.append(static_cast<T>(field->missing_value));
    else if (field->missing_kind != PDL_MISSING_EMPTY)
      return missing();
  }
  Element element;
  while (next(element)) {
    T value;
    if (hasElement && isMissing(element) && !isMapped(element)) {
      value = static_cast<T>(field->missing_element_value);
    } else {
      if (isMissing(element) && field->missing_kind != PDL_MISSING_VALUE &&
          !isMapped(element))
        return Status::invalidArgument(
            "a number among others is missing; write it, leave the whole cell "
            "empty, or give the field missing_element(...) to stand for it");
      PDLRT_RETURN_IF_ERROR(numberOf(element, value));
    }
    column.append(value);
  }
  column.endBag();
  return {};
}

/// Returns true if a text is an integer followed by `.0`.
static bool isDecimalId(std::string_view text) {
  int64_t integer;
  return text.ends_with(".0") &&
         parseInteger(text.substr(0, text.size() - 2), integer);
}

void CellParser::noteDecimal(std::string_view text) {
  if (field->hash_kind == PDL_HASH_NONE || !isDecimalId(text))
    return;
  if (decimals++ == 0)
    firstDecimal = text;
}

Status CellParser::noInteger(std::string_view text) const {
  const bool isList = field->kind == PDL_FIELD_RAGGED && !field->separator &&
                      text.find_first_of(" |;,") != std::string_view::npos;
  const bool isDecimal = isDecimalId(text);
  return Status::invalidArgument(
      quoteText(text) + " is not a decimal integer of 64 bits; " +
      (isDecimal ? "write it as a whole number, without `.0`"
       : isList  ? "if it lists ids, give the field `separator(...)` in the "
                   "model, such as separator(\" \")"
                 : "if ids are text, give the field `hash(...)` in the model, "
                   "such as hash(#nn.hash<xxh64, salt = slot>)"));
}

uint64_t CellParser::seedOf(int64_t slot) const {
  return hashSeed(*field, slot);
}

Status CellParser::idOf(std::string_view cell, int64_t slot, int64_t &id) {
  if (!isMissing(cell)) {
    noteHashed(cell);
    return parseId(cell, slot, id) ? Status() : noInteger(cell);
  }
  if (field->missing_kind != PDL_MISSING_TOKEN)
    return missing();
  parseId(field->missing_token, slot, id);
  return {};
}

Status CellParser::appendIdsOf(std::string_view cell, int64_t slot,
                               RecordColumns::Column &column) {
  const bool hasElement = field->missing_element_kind == PDL_MISSING_TOKEN;
  std::string_view rest = cell;
  bool hasMore = !isMissing(cell);
  return appendIdBag(
      !hasMore, slot,
      [&](std::string_view &text) {
        if (!hasMore)
          return false;
        hasMore = cutFirst(rest, text) && (hasElement || !rest.empty());
        return true;
      },
      column);
}

template <typename Next>
Status CellParser::appendIdBag(bool isEmpty, int64_t slot, Next next,
                               RecordColumns::Column &column) {
  int64_t id;
  bool any = false;
  const bool hasElement = field->missing_element_kind == PDL_MISSING_TOKEN;
  std::string_view text;
  uint64_t gaps = 0;
  for (uint64_t position = 1; !isEmpty && next(text); ++position) {
    const bool isGone = isMissing(text);
    if (isGone && !hasElement) {
      gaps = pdlabi::hashText(
          {reinterpret_cast<const char *>(&position), sizeof(position)}, gaps);
      continue;
    }
    if (isGone)
      text = field->missing_element_token;
    else
      noteHashed(text);
    if (!parseId(text, slot, id))
      return noInteger(text);
    column.append(id);
    any = true;
  }
  leftOut.resize(size_t(field->width));
  leftOut[size_t(slot)] = any ? gaps : 0;
  if (!any && field->missing_kind == PDL_MISSING_TOKEN) {
    parseId(field->missing_token, slot, id);
    column.append(id);
  } else if (!any && field->missing_kind != PDL_MISSING_EMPTY) {
    return missing();
  }
  column.endBag();
  return {};
}

Status CellParser::appendIds(const std::string_view *cells,
                             const std::vector<int64_t> &slots,
                             RecordColumns::Column &column, size_t &failed) {
  if (field->kind == PDL_FIELD_RAGGED) {
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      failed = slot;
      PDLRT_RETURN_IF_ERROR(
          appendIdsOf(cells[slots[slot]], int64_t(slot), column));
    }
    return {};
  }
  auto *ids = column.extend<int64_t>(slots.size());
  const bool isHashed = field->hash_kind != PDL_HASH_NONE;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const std::string_view cell = cells[slots[slot]];
    // Fast path for 8 characters, such as 32-bit hexadecimal ids: the length
    // need not be examined.
    if (isHashed && cell.size() == 8 && !mayBeMissing(8)) {
      noteHashed(cell);
      ids[slot] =
          static_cast<int64_t>(XXH64(cell.data(), 8, seedOf(int64_t(slot))));
      continue;
    }
    if (isHashed && cell.size() > 1 && !mayBeMissing(cell.size())) {
      noteHashed(cell);
      ids[slot] =
          static_cast<int64_t>(pdlabi::hashText(cell, seedOf(int64_t(slot))));
      continue;
    }
    failed = slot;
    PDLRT_RETURN_IF_ERROR(idOf(cell, int64_t(slot), ids[slot]));
  }
  return {};
}

Status CellParser::append(std::string_view row, const std::string_view *cells,
                          const std::vector<int64_t> &slots,
                          RecordColumns::Column &column, size_t &failed) {
  if (field->element_type == PDL_I64)
    return appendIds(cells, slots, column, failed);
  return field->element_type == PDL_F32
             ? appendNumbers<float>(row, cells, slots, column, failed)
             : appendNumbers<double>(row, cells, slots, column, failed);
}

bool CellParser::isMissing(const RowValue &value) const {
  switch (value.kind) {
  case RowValue::Kind::Missing:
    return true;
  case RowValue::Kind::Text:
  case RowValue::Kind::Truth:
    return isMissing(value.text);
  case RowValue::Kind::Number:
    return std::isnan(value.number);
  case RowValue::Kind::Integer:
    break;
  }
  if (!isMissingNumber)
    return false;
  char text[24];
  const auto end = std::to_chars(text, text + sizeof(text), value.integer);
  return isMissing(std::string_view(text, end.ptr));
}

template <typename T>
Status CellParser::numberOf(const RowValue &value, T &number) const {
  if (value.kind == RowValue::Kind::Text)
    return numberOf(value.text, number);
  if (value.kind == RowValue::Kind::Missing)
    return numberOf(std::string_view(), number);
  // The keys of `valueMap` and the values of `missing` are texts, so the number
  // is compared in the form of a text.
  if (!valueMap.empty() || isMissingNumber) {
    char text[32];
    const std::to_chars_result end =
        value.kind == RowValue::Kind::Number
            ? std::to_chars(text, text + sizeof(text), value.number)
            : std::to_chars(text, text + sizeof(text), value.integer);
    const std::string_view written = value.kind == RowValue::Kind::Truth
                                         ? value.text
                                         : std::string_view(text, end.ptr);
    if (!valueMap.empty() || isMissing(written))
      return numberOf(written, number);
  }
  if (value.kind != RowValue::Kind::Number) {
    number = static_cast<T>(value.integer);
    return {};
  }
  if (std::isnan(value.number))
    return numberOf(std::string_view(), number);
  number = static_cast<T>(value.number);
  return std::isfinite(number)
             ? Status()
             : Status::invalidArgument(
                   "an infinite value is not a finite number");
}

/// Returns the text of an id that is no float.
std::string_view CellParser::idTextOf(const RowValue &value) {
  if (value.kind == RowValue::Kind::Text || value.kind == RowValue::Kind::Truth)
    return value.text;
  if (value.kind == RowValue::Kind::Missing ||
      (value.kind == RowValue::Kind::Number && std::isnan(value.number)))
    return {};
  const auto end =
      std::to_chars(digits, digits + sizeof(digits), value.integer);
  return {digits, size_t(end.ptr - digits)};
}

Status CellParser::idOf(const RowValue &value, int64_t slot, int64_t &id) {
  const bool isInteger = value.kind == RowValue::Kind::Integer;
  if (isInteger && field->hash_kind == PDL_HASH_NONE && !isMissingNumber) {
    id = value.integer;
    return {};
  }
  return idOf(idTextOf(value), slot, id);
}

template <typename T>
Status
CellParser::appendNumberValues(std::span<const std::span<const RowValue>> slots,
                               RecordColumns::Column &column,
                               size_t &failed) const {
  const bool isBag = field->kind == PDL_FIELD_RAGGED;
  T *const values = isBag ? nullptr : column.extend<T>(slots.size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const std::span<const RowValue> from = slots[slot];
    failed = slot;
    if (!isBag) {
      if (from.size() > 1)
        return tooMany(from.size());
      PDLRT_RETURN_IF_ERROR(
          numberOf(from.empty() ? RowValue() : from.front(), values[slot]));
      continue;
    }
    const bool isEmpty =
        from.empty() || (from.size() == 1 && isMissing(from.front()));
    size_t next = isEmpty ? from.size() : 0;
    PDLRT_RETURN_IF_ERROR((appendNumberBag<T, RowValue>(
        isEmpty,
        [&](RowValue &value) {
          if (next == from.size())
            return false;
          value = from[next++];
          return true;
        },
        column)));
  }
  return {};
}

/// Returns an error if ids are numbers that are no integers.
static Status checkIds(std::span<const RowValue> values) {
  for (const RowValue &value : values)
    if (value.kind == RowValue::Kind::Number && !std::isnan(value.number))
      return Status::invalidArgument(
          "an id is a float; write ids as integers or as "
          "texts");
  return {};
}

Status
CellParser::appendIdValues(std::span<const std::span<const RowValue>> slots,
                           RecordColumns::Column &column, size_t &failed) {
  const bool isBag = field->kind == PDL_FIELD_RAGGED;
  auto *const ids = isBag ? nullptr : column.extend<int64_t>(slots.size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    const std::span<const RowValue> from = slots[slot];
    failed = slot;
    PDLRT_RETURN_IF_ERROR(checkIds(from));
    if (!isBag) {
      if (from.size() > 1)
        return tooMany(from.size());
      PDLRT_RETURN_IF_ERROR(idOf(from.empty() ? RowValue() : from.front(),
                                 int64_t(slot), ids[slot]));
      continue;
    }
    const bool isEmpty =
        from.empty() || (from.size() == 1 && isMissing(from.front()));
    size_t next = 0;
    PDLRT_RETURN_IF_ERROR(appendIdBag(
        isEmpty, int64_t(slot),
        [&](std::string_view &text) {
          if (next == from.size())
            return false;
          text = idTextOf(from[next++]);
          return true;
        },
        column));
  }
  return {};
}

Status CellParser::append(std::span<const std::span<const RowValue>> slots,
                          RecordColumns::Column &column, size_t &failed) {
  if (field->element_type == PDL_I64)
    return appendIdValues(slots, column, failed);
  return field->element_type == PDL_F32
             ? appendNumberValues<float>(slots, column, failed)
             : appendNumberValues<double>(slots, column, failed);
}
