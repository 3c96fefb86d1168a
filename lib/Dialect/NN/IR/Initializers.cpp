//===- Initializers.cpp - Initial values ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/symbols.h"
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

/// Verifies the parameters of a normal distribution.
static LogicalResult verifyNormal(function_ref<InFlightDiagnostic()> emitError,
                                  StringRef mnemonic, FloatAttr mean,
                                  FloatAttr deviation) {
  if (!std::isfinite(mean.getValueAsDouble()) ||
      !std::isfinite(deviation.getValueAsDouble()) ||
      deviation.getValueAsDouble() < 0)
    return emitError() << "#nn." << mnemonic
                       << " needs a finite mean and a deviation >= 0";
  return success();
}

LogicalResult NormalAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 FloatAttr mean, FloatAttr deviation) {
  return verifyNormal(emitError, getMnemonic(), mean, deviation);
}

pdl_initializer NormalAttr::getNumbers(ArrayRef<int64_t>) const {
  return {PDL_INIT_NORMAL, getMean().getValueAsDouble(),
          getDeviation().getValueAsDouble()};
}

LogicalResult
TruncatedNormalAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            FloatAttr mean, FloatAttr deviation) {
  return verifyNormal(emitError, getMnemonic(), mean, deviation);
}

pdl_initializer TruncatedNormalAttr::getNumbers(ArrayRef<int64_t>) const {
  return {PDL_INIT_TRUNCATED_NORMAL, getMean().getValueAsDouble(),
          getDeviation().getValueAsDouble()};
}

namespace {
/// Fan in and fan out of a weight of shape [in, out]. A table row of n elements
/// counts as a weight of shape [1, n].
struct Fans {
  explicit Fans(ArrayRef<int64_t> shape)
      : in(shape.size() == 2 ? shape.front() : 1), out(shape.back()) {}
  int64_t of(Fan fan) const { return fan == Fan::in ? in : out; }

  int64_t in, out;
};
} // namespace

/// Returns a uniform distribution around 0 with the variance 2 / `count`.
static pdl_initializer uniformAround(int64_t count) {
  double bound = std::sqrt(6.0 / static_cast<double>(count));
  return {PDL_INIT_UNIFORM, -bound, bound};
}

/// Returns a normal distribution around 0 with the variance 2 / `count`.
static pdl_initializer normalAround(int64_t count) {
  return {PDL_INIT_NORMAL, 0, std::sqrt(2.0 / static_cast<double>(count))};
}

std::optional<int64_t> XavierAttr::getNeededRank() const { return 2; }

pdl_initializer XavierAttr::getNumbers(ArrayRef<int64_t> shape) const {
  Fans fans(shape);
  return uniformAround(fans.in + fans.out);
}

std::optional<int64_t> XavierNormalAttr::getNeededRank() const { return 2; }

pdl_initializer XavierNormalAttr::getNumbers(ArrayRef<int64_t> shape) const {
  Fans fans(shape);
  return normalAround(fans.in + fans.out);
}

std::optional<int64_t> MsraUniformAttr::getNeededRank() const { return 2; }

pdl_initializer MsraUniformAttr::getNumbers(ArrayRef<int64_t> shape) const {
  return uniformAround(Fans(shape).of(getFan()));
}

std::optional<int64_t> MsraNormalAttr::getNeededRank() const { return 2; }

pdl_initializer MsraNormalAttr::getNumbers(ArrayRef<int64_t> shape) const {
  return normalAround(Fans(shape).of(getFan()));
}
