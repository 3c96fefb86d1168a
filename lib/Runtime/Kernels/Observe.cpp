//===- Observe.cpp - Adds samples to metrics ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/metrics.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Kernels/ObservedSamples.h"

void pdlrt_observe(int32_t type, int32_t metricKind, double parameter,
                   int64_t count, int64_t width, const void *predictions,
                   int64_t labelWidth, const void *labels, const void *weights,
                   double *sums) {
  const pdlrt::TraceSpan span("observe", {count, width});
  const auto observe = [&]<typename T>(T) {
    pdlabi::observeSamples<T>(
        metricKind, parameter,
        {count, width, static_cast<const T *>(predictions), labelWidth,
         static_cast<const T *>(labels), static_cast<const T *>(weights)},
        sums);
  };
  type == PDL_F64 ? observe(double()) : observe(float());
  if (pdlrt::ObservedSamples *seen = pdlrt::ObservedSamples::ofThread())
    seen->add(type, count, width, predictions, labelWidth, labels, weights,
              /*groups=*/nullptr, sums);
}
