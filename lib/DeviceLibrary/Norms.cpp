//===- Norms.cpp - Squared norms of gradients on a device -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Turns.h"

#include "pdlabi/device.h"

using namespace pdldevice;

/// Divides each gradient by `weight`, and adds the squares in the lanes of its
/// unit (`pdldevice_norm_lanes_f32` in pdlabi/device.h). One iteration computes
/// one lane, so adjacent iterations read adjacent elements.
template <typename T>
static void normLanes(int64_t count, int64_t unit, uint64_t weight,
                      const T *__restrict values, double *__restrict lanes,
                      int64_t first, int64_t stride) {
  const T divisor = static_cast<T>(__builtin_bit_cast(double, weight));
  forTurns(pdldevice_norm_lanes_turns(count, unit, weight, values, lanes),
           first, stride, [&](int64_t turn) {
             const int64_t begin = turn / laneCount * unit;
             const int64_t end = smaller(count, begin + unit);
             double sum = 0;
             for (int64_t i = begin + turn % laneCount; i < end;
                  i += laneCount) {
               const auto wide = static_cast<double>(values[i] / divisor);
               sum += wide * wide;
             }
             lanes[turn] = sum;
           });
}

int64_t pdldevice_norm_lanes_turns(int64_t count, int64_t unit, uint64_t,
                                   const void *, void *) {
  return partsOf(count, unit) * laneCount;
}

void pdldevice_norm_lanes_f32(int64_t count, int64_t unit, uint64_t weight,
                              const float *values, double *lanes, int64_t first,
                              int64_t stride) {
  normLanes(count, unit, weight, values, lanes, first, stride);
}

void pdldevice_norm_lanes_f64(int64_t count, int64_t unit, uint64_t weight,
                              const double *values, double *lanes,
                              int64_t first, int64_t stride) {
  normLanes(count, unit, weight, values, lanes, first, stride);
}
