//===- Tensor.h - A tensor of a request -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors of the V2 inference protocol. They do not depend on the encoding: in
// JSON, as bytes after the JSON, or in gRPC.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_TENSOR_H
#define PDL_TOOLS_PDL_SERVE_TENSOR_H

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

/// Types that a model can accept or return.
enum class DataType { Int32, Int64, Uint64, Fp32, Fp64, Bytes };

/// Parses a name such as FP32. Returns no type for other texts.
std::optional<DataType> parseDataType(std::string_view name);
const char *nameOf(DataType type);
/// Returns the size in bytes; 0 for texts.
size_t sizeOf(DataType type);
/// Returns the type of a model's tensor. Ids that may be texts have type BYTES.
DataType dataTypeOf(const pdl_serving_tensor &tensor);
/// Returns the type of the tensor's values, which is never BYTES.
DataType valueTypeOf(const pdl_serving_tensor &tensor);

/// Makes room for `more` elements at the end of a string or a vector. Reserves
/// the memory in `memory` before it is allocated. Returns false if the budget
/// is exhausted.
template <typename Container>
[[nodiscard]] bool makeRoom(Container &container, size_t more,
                            Reservation &memory) {
  const size_t wanted = container.size() + more;
  if (wanted <= container.capacity())
    return true;
  const size_t before = container.capacity();
  // Strings grow at least by this factor.
  const size_t capacity = std::max(wanted, 2 * before);
  constexpr size_t size = sizeof(typename Container::value_type);
  // Old and new memory exist at the same time.
  if (!memory.grow(capacity * size))
    return false;
  container.reserve(capacity);
  // A short string stores its bytes inside the object.
  if (before * size >= sizeof(Container))
    memory.shrink(before * size);
  return true;
}

/// Concatenated texts, in the form of pdl/serving.h.
struct Texts {
  std::string bytes;
  std::vector<int64_t> ends;

  /// Appends a text. Returns false if the budget is exhausted.
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
  /// Number of elements, which may differ from the shape.
  int64_t count = 0;
  /// If the tensor has numbers, their address in the request, which need not be
  /// aligned; valid during the request. Null if the numbers are in `storage`.
  const void *borrowed = nullptr;
  std::string storage;
  /// BYTES: the texts.
  Texts texts;
  /// True if the values came as INT64, of which some are missing.
  bool areIntegers = false;

  const void *values() const { return borrowed ? borrowed : storage.data(); }

  /// Sets the elements from little-endian bytes. For BYTES, each element is
  /// preceded by its length in 4 bytes. Numbers are not copied. Memory for
  /// copies is reserved in `memory`.
  Outcome takeRaw(std::string_view raw, Reservation &memory);
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_TENSOR_H
