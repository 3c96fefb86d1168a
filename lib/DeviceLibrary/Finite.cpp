//===- Finite.cpp - Checks numbers for being finite -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Turns.h"

#include "pdlabi/device.h"

using namespace pdldevice;

/// Threads that find such a number write the same value.
template <typename T>
static void checkFinite(int64_t count, const T *values, int32_t *found,
                        int64_t first, int64_t stride) {
  bool finite = true;
  forTurns(count, first, stride,
           [&](int64_t i) { finite &= __builtin_isfinite(values[i]); });
  if (!finite)
    *found = 1;
}

int64_t pdldevice_check_finite_turns(int64_t count, const void *, int32_t *) {
  return count;
}

void pdldevice_check_finite_f32(int64_t count, const float *values,
                                int32_t *found, int64_t first, int64_t stride) {
  checkFinite(count, values, found, first, stride);
}

void pdldevice_check_finite_f64(int64_t count, const double *values,
                                int32_t *found, int64_t first, int64_t stride) {
  checkFinite(count, values, found, first, stride);
}
