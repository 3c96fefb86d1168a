//===- ColumnElements.cpp - Converts elements of columns ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnElements.h"

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"
#include "pdlabi/hash.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

using namespace pdlrt;

ElementConverter::ElementConverter(const pdl_field &field, int64_t slot)
    : field(&field),
      seed(field.salt_kind == PDL_SALT_SLOT ? uint64_t(slot) : field.salt) {
  if (!field.missing_texts)
    missingSizes |= 1 << 1;
  for (int64_t i = 0; field.missing_texts && i < field.missing_text_count; ++i)
    missingSizes |= uint64_t(1) << std::min<size_t>(
                        std::string_view(field.missing_texts[i]).size(), 63);
  hasMissingKey = field.missing_kind == PDL_MISSING_TOKEN &&
                  keyOfText(field, field.missing_token, slot, missingKey);
}

bool ElementConverter::suits(const pdl_field &field) {
  double number;
  for (int64_t i = 0; field.missing_texts && i < field.missing_text_count; ++i)
    if (parseNumber(field.missing_texts[i], number))
      return false;
  return field.value_count == 0;
}

ElementConverter::Result ElementConverter::keyOf(std::string_view text,
                                                 int64_t &key) const {
  text = trim(text);
  if (missingSizes >> std::min<size_t>(text.size(), 63) & 1 &&
      isMissingText(*field, text))
    return Result::Missing;
  if (field->hash_kind == PDL_HASH_NONE)
    return parseInteger(text, key) ? Result::Good : Result::Special;
  // CellParser counts such ids.
  if (text.ends_with(".0")) [[unlikely]]
    return Result::Special;
  key = int64_t(pdlabi::hashText(text, seed));
  return Result::Good;
}

/// Returns the key of the digits of an integer.
template <typename T> static int64_t hashDigits(T integer, uint64_t seed) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), integer);
  return int64_t(pdlabi::hashText({digits, size_t(end.ptr - digits)}, seed));
}

ElementConverter::Result ElementConverter::keyOf(int64_t integer,
                                                 int64_t &key) const {
  key = field->hash_kind == PDL_HASH_NONE ? integer : hashDigits(integer, seed);
  return Result::Good;
}

ElementConverter::Result ElementConverter::keyOf(uint64_t integer,
                                                 int64_t &key) const {
  key = field->hash_kind == PDL_HASH_NONE ? int64_t(integer)
                                          : hashDigits(integer, seed);
  return Result::Good;
}

ElementConverter::Result ElementConverter::entryOf(const Elements &dictionary,
                                                   int64_t index,
                                                   int64_t &key) const {
  if (dictionary.isNull(index))
    return Result::Missing;
  if (isText(dictionary.type()))
    return keyOf(dictionary.textAt(index), key);
  if (!isInteger(dictionary.type()))
    return Result::Special;
  return dictionary.visitNumbers([&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, uint64_t>)
      return keyOf(dictionary.at<uint64_t>(index), key);
    else if constexpr (std::is_integral_v<T>)
      return keyOf(int64_t(dictionary.at<T>(index)), key);
    else
      return Result::Special;
  });
}

void ElementConverter::setDictionary(const ColumnValues &values) {
  keys.clear();
  results.clear();
  if (!values.hasDictionary || field->element_type != PDL_I64)
    return;
  const Elements &dictionary = values.dictionary;
  keys.resize(size_t(dictionary.size()));
  for (int64_t i = 0; i < dictionary.size(); ++i) {
    const Result result = entryOf(dictionary, i, keys[size_t(i)]);
    if (result == Result::Good && results.empty())
      continue;
    results.resize(keys.size(), Result::Good);
    results[size_t(i)] = result;
  }
}

/// Converts ids. `keyAt(i, key)` converts an element that is not null.
template <typename KeyAt>
bool ElementConverter::convertKeys(const Elements &elements,
                                   const ElementRange &range, int64_t *out,
                                   uint8_t *missing, KeyAt keyAt) const {
  const bool mayBeNull = elements.mayBeNull();
  for (int64_t k = 0; k < range.count; ++k, out += range.stride) {
    const int64_t i = range.first + k * range.step;
    Result result = Result::Missing;
    if (!mayBeNull || !elements.isNull(i))
      result = keyAt(i, *out);
    if (result == Result::Good) [[likely]]
      continue;
    if (result == Result::Special || !(missing || hasMissingKey))
      return false;
    *out = missingKey;
    if (missing)
      missing[k] = 1;
  }
  return true;
}

bool ElementConverter::convertIndices(const ColumnValues &values,
                                      const ElementRange &range, int64_t *out,
                                      uint8_t *missing) const {
  const Elements &indices = values.elements;
  if (indices.type() != ElementType::Int32)
    return convertKeys(
        indices, range, out, missing, [&](int64_t i, int64_t &key) {
          const int64_t entry = values.indexOf(i);
          if (entry < 0)
            return Result::Missing;
          key = keys[size_t(entry)];
          return results.empty() ? Result::Good : results[size_t(entry)];
        });
  const int64_t *const known = keys.data();
  if (results.empty())
    return convertKeys(indices, range, out, missing,
                       [&](int64_t i, int64_t &key) {
                         key = known[indices.at<int32_t>(i)];
                         return Result::Good;
                       });
  return convertKeys(indices, range, out, missing,
                     [&](int64_t i, int64_t &key) {
                       const auto entry = size_t(indices.at<int32_t>(i));
                       key = known[entry];
                       return results[entry];
                     });
}

bool ElementConverter::convert(const ColumnValues &values,
                               const ElementRange &range, int64_t *out,
                               uint8_t *missing) {
  if (values.hasDictionary)
    return convertIndices(values, range, out, missing);
  const Elements &elements = values.elements;
  if (isText(elements.type()))
    return convertKeys(elements, range, out, missing,
                       [&](int64_t i, int64_t &key) {
                         return keyOf(elements.textAt(i), key);
                       });
  if (!isInteger(elements.type()))
    return false;
  return elements.visitNumbers([&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      using Wide =
          std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;
      return convertKeys(elements, range, out, missing,
                         [&](int64_t i, int64_t &key) {
                           return keyOf(Wide(elements.at<T>(i)), key);
                         });
    } else {
      return false;
    }
  });
}

/// Converts numbers. `numberAt(i)` returns a number that is not null, converted
/// to T.
template <typename T, typename NumberAt>
bool ElementConverter::convertNumbers(const Elements &elements,
                                      const ElementRange &range, T *out,
                                      uint8_t *missing,
                                      NumberAt numberAt) const {
  if (!elements.mayBeNull()) {
    bool areFinite = true;
    T *to = out;
    for (int64_t k = 0; k < range.count; ++k, to += range.stride) {
      *to = numberAt(range.first + k * range.step);
      areFinite &= std::isfinite(*to);
    }
    if (areFinite) [[likely]]
      return true;
  }
  const bool hasMissing = missing || field->missing_kind == PDL_MISSING_VALUE;
  for (int64_t k = 0; k < range.count; ++k, out += range.stride) {
    const int64_t i = range.first + k * range.step;
    bool isMissing = elements.isNull(i);
    if (!isMissing) {
      *out = numberAt(i);
      isMissing = std::isnan(*out);
      if (!isMissing && !std::isfinite(*out))
        return false;
    }
    if (!isMissing)
      continue;
    if (!hasMissing)
      return false;
    *out = T(field->missing_value);
    if (missing)
      missing[k] = 1;
  }
  return true;
}

template <typename T>
bool ElementConverter::convertNumbers(const ColumnValues &values,
                                      const ElementRange &range, T *out,
                                      uint8_t *missing) const {
  const Elements &elements = values.elements;
  if (values.hasDictionary) {
    const Elements &dictionary = values.dictionary;
    if (isText(dictionary.type()) || dictionary.mayBeNull() ||
        dictionary.type() == ElementType::Bool)
      return false;
    return dictionary.visitNumbers([&](auto zero) {
      using From = decltype(zero);
      return convertNumbers(elements, range, out, missing, [&](int64_t i) {
        return T(dictionary.at<From>(values.indexOf(i)));
      });
    });
  }
  if (isText(elements.type()) || elements.type() == ElementType::Null)
    return false;
  if (elements.type() == ElementType::Bool)
    return convertNumbers(elements, range, out, missing, [&](int64_t i) {
      return elements.boolAt(i) ? T(1) : T(0);
    });
  return elements.visitNumbers([&](auto zero) {
    using From = decltype(zero);
    return convertNumbers(elements, range, out, missing,
                          [&](int64_t i) { return T(elements.at<From>(i)); });
  });
}

bool ElementConverter::convert(const ColumnValues &values,
                               const ElementRange &range, float *out,
                               uint8_t *missing) {
  return convertNumbers(values, range, out, missing);
}

bool ElementConverter::convert(const ColumnValues &values,
                               const ElementRange &range, double *out,
                               uint8_t *missing) {
  return convertNumbers(values, range, out, missing);
}
