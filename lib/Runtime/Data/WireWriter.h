//===- WireWriter.h - Writes messages of Protocol Buffers -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_WIREWRITER_H
#define LIB_RUNTIME_DATA_WIREWRITER_H

#include "Data/WireFormat.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace pdlrt {

/// Returns the bytes of a number, little-endian.
template <typename T> std::string bytesOf(T number) {
  static_assert(std::is_arithmetic_v<T>);
  return {reinterpret_cast<const char *>(&number), sizeof(number)}; // NOLINT
}

/// Appends a number without a tag.
inline void appendVarint(uint64_t number, std::string &message) {
  constexpr uint64_t more = 0x80;
  for (; number >= more; number >>= 7)
    message += char(number | more);
  message += char(number);
}

// These functions append a field to a message. `field` is its number.

/// Appends a field that has bytes: a text, a message or a packed list.
inline void appendBytes(uint64_t field, std::string_view content,
                        std::string &message) {
  appendVarint(field << 3 | WireReader::Bytes, message);
  appendVarint(content.size(), message);
  message += content;
}

/// Appends a field that has a whole number.
inline void appendInteger(uint64_t field, int64_t number,
                          std::string &message) {
  appendVarint(field << 3 | WireReader::Varint, message);
  appendVarint(uint64_t(number), message);
}

/// Appends a field of type float or double.
template <typename T>
void appendReal(uint64_t field, T number, std::string &message) {
  static_assert(std::is_floating_point_v<T>);
  appendVarint(field << 3 |
                   (sizeof(T) == 8 ? WireReader::Fixed64 : WireReader::Fixed32),
               message);
  message += bytesOf(number);
}

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_WIREWRITER_H
