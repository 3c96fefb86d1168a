//===- ColumnValues.cpp - Values of columns in files ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnValues.h"

#include "Data/CellSplitter.h"

#include <bit>
#include <limits>
#include <type_traits>

using namespace pdlrt;

Validity::Validity(const PdlColumnArray &array) {
  if (array.nullCount == 0 || array.bufferCount == 0)
    return;
  bits = static_cast<const uint8_t *>(array.buffers[0]);
  offset = array.offset;
}

/// Returns the number of bytes of a value, of an end, or of a view.
static int64_t entryBytes(ElementType type) {
  switch (type) {
  case ElementType::Null:
  case ElementType::Bool:
    return 0;
  case ElementType::Int8:
  case ElementType::UInt8:
    return 1;
  case ElementType::Int16:
  case ElementType::UInt16:
  case ElementType::Half:
    return 2;
  case ElementType::Int32:
  case ElementType::UInt32:
  case ElementType::Float:
  case ElementType::Text32:
    return 4;
  case ElementType::TextView:
    return 16;
  default:
    return 8;
  }
}

Elements::Elements(ElementType type, const PdlColumnArray &array)
    : kind(type), validity(array), length(array.length) {
  if (type == ElementType::Null)
    return;
  bitOffset = array.offset;
  values = array.buffers[1];
  // An empty array may have no buffers.
  if (values)
    values =
        static_cast<const char *>(values) + array.offset * entryBytes(type);
  if (isText(type) && type != ElementType::TextView)
    bytes = static_cast<const char *>(array.buffers[2]);
  if (type == ElementType::TextView)
    pieces = array.buffers + 2;
}

std::string_view Elements::textAt(int64_t i) const {
  if (kind == ElementType::Text32) {
    const int32_t begin = at<int32_t>(i), end = at<int32_t>(i + 1);
    return {bytes + begin, size_t(end - begin)};
  }
  if (kind == ElementType::Text64) {
    const int64_t begin = at<int64_t>(i), end = at<int64_t>(i + 1);
    return {bytes + begin, size_t(end - begin)};
  }
  // A short text is in the view, after its length.
  const char *view = static_cast<const char *>(values) + 16 * i;
  int32_t size, piece, begin;
  std::memcpy(&size, view, 4);
  if (size <= 12)
    return {view + 4, size_t(size)};
  std::memcpy(&piece, view + 8, 4);
  std::memcpy(&begin, view + 12, 4);
  return {static_cast<const char *>(pieces[piece]) + begin, size_t(size)};
}

HalfFloat::operator float() const {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = float(fraction) * 0x1p-24f;
  return sign ? -small : small;
}

Lists::Lists(const ColumnType::List &type, const PdlColumnArray &array)
    : layout(type.layout), fixed(type.size), offset(array.offset),
      validity(array) {
  if (layout == ListLayout::Fixed)
    return;
  ends = array.buffers[1];
  if (layout == ListLayout::Views32 || layout == ListLayout::Views64)
    sizes = array.buffers[2];
}

int64_t Lists::begin(int64_t i) const {
  if (layout == ListLayout::Fixed)
    return (i + offset) * fixed;
  return layout == ListLayout::Ends32 || layout == ListLayout::Views32
             ? numberAt<int32_t>(ends, i + offset)
             : numberAt<int64_t>(ends, i + offset);
}

int64_t Lists::end(int64_t i) const {
  switch (layout) {
  case ListLayout::Views32:
    return begin(i) + numberAt<int32_t>(sizes, i + offset);
  case ListLayout::Views64:
    return begin(i) + numberAt<int64_t>(sizes, i + offset);
  default:
    return begin(i + 1);
  }
}

ColumnValues::ColumnValues(const ColumnType &type, const PdlColumnArray &array)
    : depth(int(type.lists.size())) {
  const PdlColumnArray *level = &array;
  for (int i = 0; i < depth; ++i) {
    lists[size_t(i)] = Lists(type.lists[size_t(i)], *level);
    level = level->children[0];
  }
  hasDictionary = level->dictionary != nullptr;
  elements = Elements(hasDictionary ? type.index : type.element, *level);
  if (hasDictionary)
    dictionary = Elements(type.element, *level->dictionary);
}

int64_t ColumnValues::indexOf(int64_t i) const {
  if (elements.isNull(i))
    return -1;
  const int64_t index = elements.visitNumbers([&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return int64_t(elements.at<T>(i));
    else
      return int64_t(-1);
  });
  return dictionary.isNull(index) ? -1 : index;
}

RowValue ColumnValues::valueAt(int64_t i, std::string &storage) const {
  const Elements *from = &elements;
  if (hasDictionary) {
    from = &dictionary;
    i = indexOf(i);
    if (i < 0)
      return {};
  }
  if (from->isNull(i))
    return {};
  if (from->type() == ElementType::Bool)
    return RowValue::ofTruth(from->boolAt(i));
  if (isText(from->type()))
    return RowValue::ofText(trim(from->textAt(i)));
  return from->visitNumbers([&](auto zero) {
    using T = decltype(zero);
    const T value = from->at<T>(i);
    if constexpr (std::is_same_v<T, uint64_t>)
      if (value > uint64_t(std::numeric_limits<int64_t>::max())) {
        storage = std::to_string(value);
        return RowValue::ofText(storage);
      }
    if constexpr (std::is_integral_v<T>)
      return RowValue::ofInteger(int64_t(value));
    else
      return RowValue::ofNumber(double(value));
  });
}
