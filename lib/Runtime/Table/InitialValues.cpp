//===- InitialValues.cpp - Counter-based initial values -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/InitialValues.h"

#include "pdlabi/abi/codes.h"
#include "pdlabi/philox.h"

#include <algorithm>

using namespace pdlrt;

void pdlrt::fillInitialValues(int32_t type, const pdl_initializer &initializer,
                              uint64_t seed, uint64_t symbolId, int64_t key,
                              int64_t width, void *out) {
  const auto word = static_cast<uint64_t>(key);
  if (type == PDL_F32)
    pdlabi::fillInitialValues(initializer, seed, symbolId, word, width,
                              static_cast<float *>(out));
  else
    pdlabi::fillInitialValues(initializer, seed, symbolId, word, width,
                              static_cast<double *>(out));
}

void pdlrt::fillConstant(int32_t type, double value, int64_t count, void *out) {
  if (type == PDL_F32)
    std::fill_n(static_cast<float *>(out), count, static_cast<float>(value));
  else
    std::fill_n(static_cast<double *>(out), count, value);
}
