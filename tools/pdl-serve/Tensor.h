//===- Tensor.h - A tensor as a request has it ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensors of the V2 inference protocol, whichever way they came: in JSON,
// as bytes behind it, or by gRPC.
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_TENSOR_H
#define PDLSERVE_TENSOR_H

#include "MemoryBudget.h"
#include "Outcome.h"
#include "pdl/serving.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlserve {

/// The types that a model can take or return.
enum class DataType { Int32, Int64, Uint64, Fp32, Fp64, Bytes };

/// Such as FP32; null for others.
std::optional<DataType> parseDataType(std::string_view name);
const char *nameOf(DataType type);
/// In bytes; 0 of texts.
size_t sizeOf(DataType type);
/// That of a model's tensor. Ids that may be texts are BYTES.
DataType dataTypeOf(const pdl_serving_tensor &tensor);
/// That of its values, which are never texts.
DataType valueTypeOf(const pdl_serving_tensor &tensor);

/// Makes room for `more` elements at the end of a string or a vector, and takes
/// it from `memory` first. Returns false if the budget has not as much left.
template <typename Container>
[[nodiscard]] bool makeRoom(Container &container, size_t more,
                            Reservation &memory) {
  const size_t wanted = container.size() + more;
  if (wanted <= container.capacity())
    return true;
  const size_t before = container.capacity();
  // Strings grow to no less.
  const size_t capacity = std::max(wanted, 2 * before);
  constexpr size_t size = sizeof(typename Container::value_type);
  // Old and new memory exist at the same time.
  if (!memory.grow(capacity * size))
    return false;
  container.reserve(capacity);
  // A short string has its bytes in itself.
  if (before * size >= sizeof(Container))
    memory.shrink(before * size);
  return true;
}

/// Texts one behind the other, as pdl/serving.h wants them.
struct Texts {
  std::string bytes;
  std::vector<int64_t> ends;

  /// Returns false if the budget has no room for the text.
  [[nodiscard]] bool add(std::string_view text, Reservation &memory) {
    if (!makeRoom(bytes, text.size(), memory) || !makeRoom(ends, 1, memory))
      return false;
    bytes += text;
    ends.push_back(int64_t(bytes.size()));
    return true;
  }
};

struct Tensor {
  std::string name;
  DataType type = DataType::Fp32;
  std::vector<int64_t> shape;
  /// How many elements there are, which may not be what the shape says.
  int64_t count = 0;
  /// Of numbers: memory that lives as long as the request, or null, where
  /// `storage` has them. Not aligned.
  const void *borrowed = nullptr;
  std::string storage;
  /// Of BYTES.
  Texts texts;
  /// Whether these came as INT64, of which some are missing.
  bool areIntegers = false;

  const void *values() const { return borrowed ? borrowed : storage.data(); }

  /// Takes elements as bytes, little-endian; of BYTES each after its length in
  /// 4 bytes. Numbers stay where they are. Copies are taken from `memory`.
  Outcome takeRaw(std::string_view raw, Reservation &memory);
};

} // namespace pdlserve

#endif // PDLSERVE_TENSOR_H
