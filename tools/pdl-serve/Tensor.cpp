//===- Tensor.cpp - A tensor of a request ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include <cstring>
#include <fmt/format.h>

using namespace pdlserve;

std::optional<DataType> pdlserve::parseDataType(std::string_view name) {
  for (const DataType type :
       {DataType::Fp32, DataType::Bytes, DataType::Int64, DataType::Int32,
        DataType::Uint64, DataType::Fp64})
    if (name == nameOf(type))
      return type;
  return std::nullopt;
}

const char *pdlserve::nameOf(DataType type) {
  switch (type) {
  case DataType::Int32:
    return "INT32";
  case DataType::Int64:
    return "INT64";
  case DataType::Uint64:
    return "UINT64";
  case DataType::Fp32:
    return "FP32";
  case DataType::Fp64:
    return "FP64";
  case DataType::Bytes:
    return "BYTES";
  }
  return "BYTES";
}

size_t pdlserve::sizeOf(DataType type) {
  switch (type) {
  case DataType::Int32:
  case DataType::Fp32:
    return 4;
  case DataType::Int64:
  case DataType::Uint64:
  case DataType::Fp64:
    return 8;
  case DataType::Bytes:
    return 0;
  }
  return 0;
}

DataType pdlserve::valueTypeOf(const pdl_serving_tensor &tensor) {
  return tensor.type == PDL_SERVING_F32   ? DataType::Fp32
         : tensor.type == PDL_SERVING_F64 ? DataType::Fp64
                                          : DataType::Int64;
}

DataType pdlserve::dataTypeOf(const pdl_serving_tensor &tensor) {
  return tensor.takes_texts ? DataType::Bytes : valueTypeOf(tensor);
}

Outcome Tensor::takeRaw(std::string_view raw, Reservation &memory) {
  if (type != DataType::Bytes) {
    const size_t size = sizeOf(type);
    if (raw.size() % size != 0)
      return Outcome::bad(
          fmt::format("input '{}': its {} bytes are no whole number of "
                      "elements of {}, which have {}",
                      name, raw.size(), nameOf(type), size));
    borrowed = raw.data();
    count = int64_t(raw.size() / size);
    return {};
  }
  while (!raw.empty()) {
    uint32_t length = 0;
    if (raw.size() < sizeof(length))
      return Outcome::bad(fmt::format(
          "input '{}': its bytes end within the length of text {}; each text "
          "has its length before it, in 4 bytes",
          name, texts.ends.size()));
    std::memcpy(&length, raw.data(), sizeof(length));
    raw.remove_prefix(sizeof(length));
    if (raw.size() < length)
      return Outcome::bad(
          fmt::format("input '{}': text {} has {} bytes, as it says, but only "
                      "{} are left",
                      name, texts.ends.size(), length, raw.size()));
    if (!texts.add(raw.substr(0, length), memory))
      return noBudget();
    raw.remove_prefix(length);
  }
  count = int64_t(texts.ends.size());
  return {};
}
