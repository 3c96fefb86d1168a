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

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

Initializer::Initializer(StringRef name, InitializerAttrInterface attribute,
                         ArrayRef<int64_t> shape, uint64_t seed)
    : numbers(attribute.getNumbers(shape)), seed(seed),
      symbolId(pdlabi::symbolId(std::string_view(name.data(), name.size()))) {}

template <typename T>
void Initializer::fill(int64_t key, int64_t width, T *out) const {
  pdlabi::fillInitialValues(numbers, seed, symbolId, static_cast<uint64_t>(key),
                            width, out);
}

template void Initializer::fill(int64_t key, int64_t width, float *out) const;
template void Initializer::fill(int64_t key, int64_t width, double *out) const;
