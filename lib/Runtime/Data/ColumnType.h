//===- ColumnType.h - Types of columns in files -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNTYPE_H
#define LIB_RUNTIME_DATA_COLUMNTYPE_H

#include "Data/ColumnFileApi.h"
#include "pdlabi/abi/record.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Type of the values of a column, or of its lists.
enum class ElementType : uint8_t {
  Null,
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Half,
  Float,
  Double,
  Text32,  ///< Bytes with ends of 32 bits.
  Text64,  ///< Bytes with ends of 64 bits.
  TextView ///< Bytes that are found by views of 16 bytes.
};

inline bool isInteger(ElementType type) {
  return type >= ElementType::Int8 && type <= ElementType::UInt64;
}
inline bool isFloat(ElementType type) {
  return type >= ElementType::Half && type <= ElementType::Double;
}
inline bool isText(ElementType type) { return type >= ElementType::Text32; }

/// Layout of a list.
enum class ListLayout : uint8_t { Ends32, Ends64, Views32, Views64, Fixed };

/// Type of a column that PDL can read.
struct ColumnType {
  struct List {
    ListLayout layout;
    int64_t size = 0; ///< Of `Fixed`: number of elements.
  };
  /// The outer list first. Empty: each row has one value.
  std::vector<List> lists;
  ElementType element = ElementType::Null;
  /// True if values are indices, of type `index`, into a dictionary.
  bool hasDictionary = false;
  ElementType index = ElementType::Int32;
};

/// Converts a type. If values of the type cannot be read, the error message
/// names the type and the remedy.
Expected<ColumnType> parseColumnType(const PdlColumnSchema &schema);

/// Returns a type in words for messages, such as `list of strings`.
std::string columnTypeText(const ColumnType &type);

/// Returns an error if a field cannot take values of that type. `isWhole`: the
/// column has the values of all slots of the field, otherwise those of one.
Status checkColumnType(const ColumnType &type, const pdl_field &field,
                       bool isWhole);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNTYPE_H
