//===- Storage.cpp - Values in 16-bit storage formats ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Kernels/Storage.h"

using namespace pdlrt;
using pdlabi::BFloat16;
using pdlabi::Float16;

template <typename Stored>
static void widen(int64_t count, const void *stored, float *__restrict out) {
  const auto *from = static_cast<const Stored *>(stored);
  for (int64_t i = 0; i < count; ++i)
    out[i] = from[i];
}

void pdlrt::widenStored(int32_t storage, int64_t count, const void *stored,
                        float *out) {
  (storage == PDL_STORE_BF16 ? widen<BFloat16> : widen<Float16>)(count, stored,
                                                                 out);
}

template <typename Stored>
static bool storeNearest(int64_t count, const float *values, void *out) {
  auto *to = static_cast<Stored *>(out);
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    to[i] = Stored(values[i]);
    finite &= (to[i].bits & 0x7fff) < Stored::infinity;
  }
  return finite;
}

bool pdlrt::storeNearest(int32_t storage, int64_t count, const float *values,
                         void *out) {
  return (storage == PDL_STORE_BF16
              ? ::storeNearest<BFloat16>
              : ::storeNearest<Float16>)(count, values, out);
}

bool pdlrt::storeAtRandom(int32_t storage, const pdlabi::RoundingDraws &draws,
                          int64_t rowCount, int64_t width, int64_t stride,
                          const int64_t *keys, const float *values,
                          void *const *rows) {
  return (storage == PDL_STORE_BF16
              ? pdlabi::roundRows<BFloat16>
              : pdlabi::roundRows<Float16>)(draws, rowCount, width, stride,
                                            keys, values, rows);
}
