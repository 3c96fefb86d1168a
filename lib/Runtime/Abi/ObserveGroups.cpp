//===- ObserveGroups.cpp - Samples of metrics of groups -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/metrics.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Kernels/ObservedSamples.h"

#include <new>

using namespace pdlrt;

void pdlrt_observe_groups(void *worker, int32_t type, int32_t metricIndex,
                          int64_t count, const void *predictions,
                          const void *labels, const int64_t *groups,
                          const void *weights, double *sums) {
  const pdlrt::TraceSpan span("observe groups", {count});
  Worker &own = Worker::of(worker);
  const auto observe = [&]<typename T>(T) {
    pdlabi::observeGroups<T>({count, 1, static_cast<const T *>(predictions), 1,
                              static_cast<const T *>(labels),
                              static_cast<const T *>(weights)},
                             groups, own.groupsOf(metricIndex), sums);
  };
  // No exception may enter generated code.
  try {
    type == PDL_F64 ? observe(double()) : observe(float());
  } catch (const std::bad_alloc &) {
    own.noteLostSamples();
  }
  if (ObservedSamples *seen = ObservedSamples::ofThread())
    seen->add(type, count, 1, predictions, 1, labels, weights, groups, sums);
}
