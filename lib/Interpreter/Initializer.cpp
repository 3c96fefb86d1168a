//===- Initializer.cpp - Initial values -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/State.h"

#include "pdlabi/hash.h"
#include "pdlabi/philox.h"

#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

FailureOr<Initializer> Initializer::create(Operation *symbol, StringRef name,
                                           Attribute attribute,
                                           ArrayRef<int64_t> shape,
                                           uint64_t seed) {
  Initializer initializer;
  initializer.seed = seed;
  initializer.symbolId =
      pdlabi::symbolId(std::string_view(name.data(), name.size()));
  pdl_initializer &numbers = initializer.numbers;
  if (isa<ZerosAttr>(attribute))
    return initializer;
  if (auto constant = dyn_cast<ConstantInitAttr>(attribute)) {
    numbers.a = constant.getValue().getValueAsDouble();
    return initializer;
  }
  if (auto uniform = dyn_cast<UniformAttr>(attribute)) {
    numbers = {PDL_INIT_UNIFORM, uniform.getLow().getValueAsDouble(),
               uniform.getHigh().getValueAsDouble()};
    return initializer;
  }
  if (auto normal = dyn_cast<NormalAttr>(attribute)) {
    numbers = {PDL_INIT_NORMAL, normal.getMean().getValueAsDouble(),
               normal.getDeviation().getValueAsDouble()};
    return initializer;
  }
  if (isa<XavierAttr>(attribute) && (shape.size() == 1 || shape.size() == 2)) {
    // A table's row of n elements counts as [1, n].
    int64_t fans = shape.back() + (shape.size() == 2 ? shape.front() : 1);
    double bound = std::sqrt(6.0 / static_cast<double>(fans));
    numbers = {PDL_INIT_UNIFORM, -bound, bound};
    return initializer;
  }
  return symbol->emitOpError()
         << "starts from " << attribute << ", which cannot be interpreted";
}

template <typename T>
void Initializer::fill(int64_t key, int64_t width, T *out) const {
  pdlabi::fillInitialValues(numbers, seed, symbolId, static_cast<uint64_t>(key),
                            width, out);
}

template void Initializer::fill(int64_t key, int64_t width, float *out) const;
template void Initializer::fill(int64_t key, int64_t width, double *out) const;
