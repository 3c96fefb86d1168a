//===- Initializers.cpp - How values start -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

pdl_initializer ZerosAttr::getNumbers(ArrayRef<int64_t>) const {
  return {PDL_INIT_CONSTANT, 0, 0};
}

pdl_initializer ConstantInitAttr::getNumbers(ArrayRef<int64_t>) const {
  return {PDL_INIT_CONSTANT, getValue().getValueAsDouble(), 0};
}

LogicalResult UniformAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  FloatAttr low, FloatAttr high) {
  if (!std::isfinite(low.getValueAsDouble()) ||
      !std::isfinite(high.getValueAsDouble()) ||
      !(low.getValueAsDouble() < high.getValueAsDouble()))
    return emitError()
           << "#nn.uniform needs two finite bounds, the lower first";
  return success();
}

pdl_initializer UniformAttr::getNumbers(ArrayRef<int64_t>) const {
  return {PDL_INIT_UNIFORM, getLow().getValueAsDouble(),
          getHigh().getValueAsDouble()};
}

LogicalResult NormalAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 FloatAttr mean, FloatAttr deviation) {
  if (!std::isfinite(mean.getValueAsDouble()) ||
      !std::isfinite(deviation.getValueAsDouble()) ||
      deviation.getValueAsDouble() < 0)
    return emitError() << "#nn.normal needs a finite mean and a deviation >= 0";
  return success();
}

pdl_initializer NormalAttr::getNumbers(ArrayRef<int64_t>) const {
  return {PDL_INIT_NORMAL, getMean().getValueAsDouble(),
          getDeviation().getValueAsDouble()};
}

std::optional<int64_t> XavierAttr::getNeededRank() const { return 2; }

/// Becomes the uniform distribution that it stands for. A table's row of n
/// elements counts as [1, n].
pdl_initializer XavierAttr::getNumbers(ArrayRef<int64_t> shape) const {
  int64_t fans = shape.back() + (shape.size() == 2 ? shape.front() : 1);
  double bound = std::sqrt(6.0 / static_cast<double>(fans));
  return {PDL_INIT_UNIFORM, -bound, bound};
}
