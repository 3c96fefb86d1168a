//===- Tensor.cpp - Values of the interpreter -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;

Elements interpreter::makeElements(Type type, int64_t count) {
  if (type.isF64())
    return std::vector<double>(count);
  if (type.isInteger(32))
    return std::vector<int32_t>(count);
  if (type.isInteger(64))
    return std::vector<int64_t>(count);
  return std::vector<float>(count);
}

Tensor::Tensor(ArrayRef<int64_t> shape, Elements elements)
    : extents(shape), elements(std::move(elements)) {
  assert(visit([](auto &vector) { return int64_t(vector.size()); }) == count());
}

Tensor::Tensor(ArrayRef<int64_t> shape, Type type) : extents(shape) {
  elements = makeElements(type, count());
}

Tensor::Tensor(Tensor &&other, ArrayRef<int64_t> shape)
    : Tensor(shape, std::move(other.elements)) {}

int64_t Tensor::count() const { return count(0, rank()); }

int64_t Tensor::count(int64_t begin, int64_t end) const {
  int64_t product = 1;
  for (int64_t axis = begin; axis < end; ++axis)
    product *= extents[axis];
  return product;
}

pdlabi::TensorType Tensor::fileType() const {
  if (holds<double>())
    return pdlabi::TensorType::F64;
  if (holds<int32_t>())
    return pdlabi::TensorType::I32;
  if (holds<int64_t>())
    return pdlabi::TensorType::I64;
  return pdlabi::TensorType::F32;
}

const void *Tensor::bytes() const {
  return visit([](auto &vector) -> const void * { return vector.data(); });
}

bool Tensor::isFinite() const {
  return visit([](auto &vector) {
    for (auto element : vector)
      if constexpr (std::is_floating_point_v<decltype(element)>)
        if (!std::isfinite(element))
          return false;
    return true;
  });
}
