//===- Rows.cpp - Row reductions on a device ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Turns.h"

#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"

using namespace pdldevice;

namespace {

/// Reduces a row, without the division of a mean.
template <typename T, typename Combine>
T reduceRow(int64_t width, const T *__restrict row, T (&lane)[laneCount],
            int64_t begin, Combine combine) {
  int64_t j = begin;
  for (; j + laneCount <= width; j += laneCount)
#pragma clang loop unroll(full)
    for (int l = 0; l < laneCount; ++l)
      lane[l] = combine(lane[l], row[j + l]);
  // Lanes are only indexed by constants, so that they stay in registers.
#pragma clang loop unroll(full)
  for (int l = 0; l < laneCount; ++l)
    if (j + l < width)
      lane[l] = combine(lane[l], row[j + l]);
  return joinLanes(lane, combine);
}

template <typename T>
T reduce(int64_t reduction, int64_t width, const T *__restrict row) {
  T lane[laneCount] = {};
  if (reduction != PDL_REDUCE_MAX) {
    const T sum = reduceRow(width, row, lane, 0, Sum());
    return reduction == PDL_REDUCE_MEAN ? sum / static_cast<T>(width) : sum;
  }
  if (width == 0)
    return -infinity<T>();
#pragma clang loop unroll(full)
  for (int l = 0; l < laneCount; ++l)
    lane[l] = row[l < width ? l : 0];
  return reduceRow(width, row, lane, laneCount, Maximum());
}

template <typename T>
void reduceRows(int64_t reduction, int64_t rows, int64_t width,
                const T *__restrict values, T *__restrict out, int64_t first,
                int64_t stride) {
  forTurns(pdldevice_reduce_rows_turns(reduction, rows, width, values, out),
           first, stride, [&](int64_t row) {
             out[row] = reduce(reduction, width, values + row * width);
           });
}

} // namespace

int64_t pdldevice_reduce_rows_turns(int64_t, int64_t rows, int64_t,
                                    const void *, void *) {
  return rows;
}

void pdldevice_reduce_rows_f32(int64_t reduction, int64_t rows, int64_t width,
                               const float *values, float *out, int64_t first,
                               int64_t stride) {
  reduceRows(reduction, rows, width, values, out, first, stride);
}

void pdldevice_reduce_rows_f64(int64_t reduction, int64_t rows, int64_t width,
                               const double *values, double *out, int64_t first,
                               int64_t stride) {
  reduceRows(reduction, rows, width, values, out, first, stride);
}
