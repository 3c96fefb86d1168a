//===- Reduce.cpp - Reductions in a fixed order ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/Scheduler.h"

#include <cmath>
#include <limits>

namespace {

// The fixed number of lanes: equal for vectors of 8 and of 16 elements.
constexpr int64_t reduceLanes = 16;

/// Returns the maximum. If `a` or `b` is NaN, returns NaN. If they are equal,
/// returns `b`.
template <typename T> T maximum(T a, T b) {
  return (a > b || std::isnan(a)) ? a : b;
}

template <typename T, typename Combine>
T reduceRow(int64_t width, const T *values, T (&lane)[reduceLanes],
            int64_t begin, Combine combine) {
  int64_t j = begin;
  for (; j + reduceLanes <= width; j += reduceLanes)
    for (int64_t l = 0; l < reduceLanes; ++l)
      lane[l] = combine(lane[l], values[j + l]);
  for (int64_t l = 0; j + l < width; ++l)
    lane[l] = combine(lane[l], values[j + l]);
  for (int64_t half = reduceLanes / 2; half >= 1; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      lane[l] = combine(lane[l], lane[l + half]);
  return lane[0];
}

template <typename T>
void reduceRange(int32_t reduction, int64_t begin, int64_t end, int64_t width,
                 const T *values, T *out) {
  values += begin * width;
  for (int64_t row = begin; row < end; ++row, values += width) {
    T lane[reduceLanes] = {};
    if (reduction != PDL_REDUCE_MAX) {
      const T sum =
          reduceRow(width, values, lane, 0, [](T a, T b) { return a + b; });
      out[row] =
          reduction == PDL_REDUCE_MEAN ? sum / static_cast<T>(width) : sum;
      continue;
    }
    if (width == 0) {
      out[row] = -std::numeric_limits<T>::infinity();
      continue;
    }
    // A lane without elements repeats the first one.
    for (int64_t l = 0; l < reduceLanes; ++l)
      lane[l] = values[l < width ? l : 0];
    out[row] = reduceRow(width, values, lane, reduceLanes, maximum<T>);
  }
}

template <typename T>
void reduceRows(int32_t reduction, int64_t rows, int64_t width, const T *values,
                T *out) {
  pdlrt::parallelRanges(rows, static_cast<double>(rows * width) * sizeof(T),
                        [&](int64_t begin, int64_t end) {
                          reduceRange(reduction, begin, end, width, values,
                                      out);
                        });
}

template <typename T>
void lossSum(int64_t count, const T *values, const T *weights, double *sum,
             double *weightSum) {
  double losses = 0.0;
  double total = 0.0;
  bool areWeights = true;
  if (!weights) {
    for (int64_t i = 0; i < count; ++i)
      losses += static_cast<double>(values[i]);
    total = static_cast<double>(count);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const double weight = static_cast<double>(weights[i]);
      losses += static_cast<double>(values[i]) * weight;
      total += weight;
      areWeights &= weight >= 0.0;
    }
  }
  *sum = losses;
  *weightSum = areWeights ? total : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

void pdlrt_reduce_rows(int32_t type, int32_t reduction, int64_t rows,
                       int64_t width, const void *values, void *out) {
  const pdlrt::TraceSpan span("reduce rows", {rows, width});
  if (type == PDL_F64)
    reduceRows(reduction, rows, width, static_cast<const double *>(values),
               static_cast<double *>(out));
  else
    reduceRows(reduction, rows, width, static_cast<const float *>(values),
               static_cast<float *>(out));
}

void pdlrt_loss_sum(int32_t type, int64_t count, const void *values,
                    const void *weights, double *sum, double *weightSum) {
  const pdlrt::TraceSpan span("loss sum", {count});
  if (type == PDL_F64)
    lossSum(count, static_cast<const double *>(values),
            static_cast<const double *>(weights), sum, weightSum);
  else
    lossSum(count, static_cast<const float *>(values),
            static_cast<const float *>(weights), sum, weightSum);
}
