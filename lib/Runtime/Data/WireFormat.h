//===- WireFormat.h - Reads messages of Protocol Buffers --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_WIREFORMAT_H
#define LIB_RUNTIME_DATA_WIREFORMAT_H

#include <cstdint>
#include <string_view>

namespace pdlrt {

/// Reads the fields of an encoded message of Protocol Buffers, in place and
/// without a copy. The bytes must stay valid. Not thread-safe.
class WireReader {
public:
  explicit WireReader(std::string_view bytes) : rest(bytes) {}

  /// Wire types. Groups are not supported: no current writer makes them.
  enum Type : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  struct Field {
    uint64_t number = 0;
    Type type = Varint;
    uint64_t integer = 0;   ///< Varint, Fixed32 and Fixed64.
    std::string_view bytes; ///< Bytes.
  };

  /// Moves to the next field. Returns false at the end of the message, and at
  /// bytes that are no field (`isDamaged`).
  bool next(Field &field);
  /// Reads a number of a packed list. Returns false as `next` does.
  bool nextVarint(uint64_t &value);
  /// Returns true if the last call failed for another reason than the end.
  bool isDamaged() const { return damaged; }

private:
  bool fail() {
    damaged = true;
    return false;
  }
  bool readFixed(size_t size, uint64_t &value);

  std::string_view rest;
  bool damaged = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_WIREFORMAT_H
