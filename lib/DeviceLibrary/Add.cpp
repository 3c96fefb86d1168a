//===- Add.cpp - Adds gradients on a device -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Turns.h"

#include "pdlabi/device.h"

using namespace pdldevice;

template <typename T>
static void add(int64_t count, const T *__restrict values, T *__restrict sum,
                int64_t first, int64_t stride) {
  forTurns(count, first, stride, [&](int64_t i) { sum[i] += values[i]; });
}

int64_t pdldevice_add_turns(int64_t count, const void *, void *) {
  return count;
}

void pdldevice_add_f32(int64_t count, const float *values, float *sum,
                       int64_t first, int64_t stride) {
  add(count, values, sum, first, stride);
}

void pdldevice_add_f64(int64_t count, const double *values, double *sum,
                       int64_t first, int64_t stride) {
  add(count, values, sum, first, stride);
}
