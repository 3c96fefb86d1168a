//===- Replica.cpp - One logical worker of one program --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/Replica.h"

#include "pdlrt/Core/Metrics.h"

#include <algorithm>

using namespace pdlrt;

Replica::Replica(Model &model, const pdl_program &program, int ringSize) {
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t i = 0; i < descriptor.metric_count; ++i) {
    metricCounts.emplace_back(metricCountSize(descriptor.metrics[i]));
    metricSums.emplace_back(metricSumSize(descriptor.metrics[i]));
    metrics.push_back({metricCounts[i].data(), metricSums[i].data()});
  }
  for (int i = 0; i < ringSize; ++i)
    ring.push_back(
        std::make_unique<BatchContext>(model, program, metrics.data()));
}

PullCounts Replica::pullCounts() const {
  PullCounts sum;
  for (const std::unique_ptr<BatchContext> &context : ring)
    sum += context->pullCounts();
  return sum;
}

void Replica::resetCounters() {
  for (std::vector<int64_t> &counts : metricCounts)
    std::fill(counts.begin(), counts.end(), 0);
  for (std::vector<double> &sums : metricSums)
    std::fill(sums.begin(), sums.end(), 0);
  for (std::unique_ptr<BatchContext> &context : ring)
    context->pullCounts() = {};
}
