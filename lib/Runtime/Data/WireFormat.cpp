//===- WireFormat.cpp - Reads messages of Protocol Buffers ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/WireFormat.h"

#include <cstring>

using namespace pdlrt;

bool WireReader::nextVarint(uint64_t &value) {
  if (rest.empty())
    return false;
  value = 0;
  for (unsigned i = 0; i < 10 && i < rest.size(); ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= uint64_t(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest.remove_prefix(i + 1);
      return true;
    }
  }
  return fail();
}

bool WireReader::readFixed(size_t size, uint64_t &value) {
  if (rest.size() < size)
    return fail();
  value = 0;
  std::memcpy(&value, rest.data(), size);
  rest.remove_prefix(size);
  return true;
}

bool WireReader::next(Field &field) {
  uint64_t tag = 0;
  if (!nextVarint(tag))
    return false;
  field.number = tag >> 3;
  field.type = Type(tag & 7);
  if (field.number == 0 || field.number >= uint64_t(1) << 29)
    return fail();
  uint64_t size = 0;
  switch (field.type) {
  case Varint:
    return nextVarint(field.integer) || fail();
  case Fixed64:
    return readFixed(8, field.integer);
  case Fixed32:
    return readFixed(4, field.integer);
  case Bytes:
    if (!nextVarint(size) || size > rest.size())
      return fail();
    field.bytes = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
  return fail();
}
