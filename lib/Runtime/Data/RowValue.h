//===- RowValue.h - A value of a row before conversion ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ROWVALUE_H
#define LIB_RUNTIME_DATA_ROWVALUE_H

#include <cstdint>
#include <string_view>

namespace pdlrt {

/// A value of a row, before a field converts it. Text formats produce texts;
/// binary formats also produce integers and numbers.
struct RowValue {
  enum class Kind : uint8_t {
    Missing, ///< No value.
    Text,    ///< `text`, trimmed. A number of a text format is a text too.
    Truth,   ///< `text` is "true" or "false"; `integer` is 1 or 0.
    Integer, ///< `integer`.
    Number   ///< `number`; NaN: missing.
  };
  Kind kind = Kind::Missing;
  std::string_view text = {};
  int64_t integer = 0;
  double number = 0;

  static RowValue ofText(std::string_view text) { return {Kind::Text, text}; }
  static RowValue ofTruth(bool truth) {
    return {Kind::Truth, truth ? "true" : "false", truth ? 1 : 0};
  }
  static RowValue ofInteger(int64_t integer) {
    return {Kind::Integer, {}, integer};
  }
  static RowValue ofNumber(double number) {
    return {Kind::Number, {}, 0, number};
  }
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_ROWVALUE_H
