//===- Observe.cpp - Samples into the sums of metrics
//-----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/metrics.h"

namespace {

template <typename T>
void observe(int32_t kind, int64_t buckets, int64_t count, const T *predictions,
             const T *labels, const T *weights, double *sums) {
  for (int64_t i = 0; i < count; ++i)
    pdlabi::observeSample(kind, buckets, static_cast<double>(predictions[i]),
                          labels ? static_cast<double>(labels[i]) : 0.0,
                          weights ? static_cast<double>(weights[i]) : 1.0,
                          sums);
}

} // namespace

void pdlrt_observe(int32_t type, int32_t metricKind, int64_t bucketCount,
                   int64_t count, const void *predictions, const void *labels,
                   const void *weights, double *sums) {
  if (type == PDL_F64)
    observe(metricKind, bucketCount, count,
            static_cast<const double *>(predictions),
            static_cast<const double *>(labels),
            static_cast<const double *>(weights), sums);
  else
    observe(metricKind, bucketCount, count,
            static_cast<const float *>(predictions),
            static_cast<const float *>(labels),
            static_cast<const float *>(weights), sums);
}
