//===- ColumnValues.h - Values of columns in files --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNVALUES_H
#define LIB_RUNTIME_DATA_COLUMNVALUES_H

#include "Data/ColumnFileApi.h"
#include "Data/ColumnType.h"
#include "Data/RowValue.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace pdlrt {

/// Bits of an array that say which values are not null. Without bits, none is.
class Validity {
public:
  Validity() = default;
  explicit Validity(const PdlColumnArray &array);

  bool isNull(int64_t i) const {
    return bits && !(bits[size_t(i + offset) / 8] >> ((i + offset) % 8) & 1);
  }
  /// Returns false if no value is null.
  bool mayBeNull() const { return bits; }

private:
  const uint8_t *bits = nullptr;
  int64_t offset = 0;
};

/// Values of an array without lists. Refers to the array.
class Elements {
public:
  Elements() = default;
  Elements(ElementType type, const PdlColumnArray &array);

  ElementType type() const { return kind; }
  int64_t size() const { return length; }
  bool isNull(int64_t i) const {
    return kind == ElementType::Null || validity.isNull(i);
  }
  bool mayBeNull() const {
    return kind == ElementType::Null || validity.mayBeNull();
  }
  /// Return a value of the type T, or of that type of texts, without trimming.
  template <typename T> T at(int64_t i) const {
    T value;
    std::memcpy(&value, static_cast<const char *>(values) + i * sizeof(T),
                sizeof(T));
    return value;
  }
  bool boolAt(int64_t i) const {
    const auto bit = size_t(i + bitOffset);
    return static_cast<const uint8_t *>(values)[bit / 8] >> (bit % 8) & 1;
  }
  std::string_view textAt(int64_t i) const;
  /// Returns the values from the first one, of numbers.
  const void *data() const { return values; }
  /// Returns true if both refer to the same bytes.
  bool isSame(const Elements &other) const {
    return values == other.values && bytes == other.bytes &&
           length == other.length && kind == other.kind;
  }
  /// Calls `visit` with a value of the C++ type of numbers, which it ignores.
  /// Not for texts, nulls and bools.
  template <typename Visit> decltype(auto) visitNumbers(Visit visit) const;

private:
  ElementType kind = ElementType::Null;
  Validity validity;
  int64_t length = 0, bitOffset = 0;
  const void *values = nullptr; ///< Numbers, ends or views, from the first.
  const char *bytes = nullptr;
  const void *const *pieces = nullptr; ///< Of `TextView`.
};

/// A number of 16 bits, which converts exactly.
struct HalfFloat {
  uint16_t bits;
  operator float() const;
};

template <typename Visit>
decltype(auto) Elements::visitNumbers(Visit visit) const {
  switch (kind) {
  case ElementType::Int8:
    return visit(int8_t());
  case ElementType::Int16:
    return visit(int16_t());
  case ElementType::Int32:
    return visit(int32_t());
  case ElementType::UInt8:
    return visit(uint8_t());
  case ElementType::UInt16:
    return visit(uint16_t());
  case ElementType::UInt32:
    return visit(uint32_t());
  case ElementType::UInt64:
    return visit(uint64_t());
  case ElementType::Half:
    return visit(HalfFloat());
  case ElementType::Float:
    return visit(float());
  case ElementType::Double:
    return visit(double());
  default:
    return visit(int64_t());
  }
}

/// Lists of an array. Refers to the array.
class Lists {
public:
  Lists() = default;
  Lists(const ColumnType::List &type, const PdlColumnArray &array);

  bool isNull(int64_t i) const { return validity.isNull(i); }
  bool mayBeNull() const { return validity.mayBeNull(); }
  /// Return the positions of the first element of a list, and after its last.
  int64_t begin(int64_t i) const;
  int64_t end(int64_t i) const;
  /// Returns true if each list begins where the previous one ends.
  bool isDense() const {
    return layout == ListLayout::Ends32 || layout == ListLayout::Ends64 ||
           layout == ListLayout::Fixed;
  }

private:
  template <typename T> int64_t numberAt(const void *from, int64_t i) const {
    T value;
    std::memcpy(&value,
                static_cast<const char *>(from) + i * int64_t(sizeof(T)),
                sizeof(T));
    return value;
  }

  ListLayout layout = ListLayout::Ends32;
  int64_t fixed = 0, offset = 0;
  Validity validity;
  const void *ends = nullptr, *sizes = nullptr;
};

/// Values of a column in one batch. Refers to the batch.
struct ColumnValues {
  ColumnValues() = default;
  ColumnValues(const ColumnType &type, const PdlColumnArray &array);

  int depth = 0; ///< Number of lists around a value.
  std::array<Lists, 2> lists;
  /// Values, or indices into `dictionary`.
  Elements elements;
  Elements dictionary;
  bool hasDictionary = false;

  /// Returns the type of values.
  ElementType type() const {
    return hasDictionary ? dictionary.type() : elements.type();
  }
  /// Returns the index of a value in `dictionary`; -1: null.
  int64_t indexOf(int64_t i) const;
  /// Returns a value. Texts are trimmed, and stay valid as long as the batch. A
  /// number that does not fit is kept as text in `storage`.
  RowValue valueAt(int64_t i, std::string &storage) const;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNVALUES_H
