//===- Replica.cpp - One logical worker of a program ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/Replica.h"

#include "pdlrt/State/DeviceState.h"

#include <algorithm>

using namespace pdlrt;

Replica::Replica(Model &model, const pdl_program &program, int ringSize,
                 int number)
    : metricSums(model.descriptor(), 1),
      groupedSamples(model.descriptor().metric_count), buffers(program) {
  if (const std::vector<Device *> &devices = model.devices();
      !devices.empty()) {
    const size_t own = size_t(number) % devices.size();
    DeviceState *state = model.deviceState();
    buffers.device =
        std::make_unique<DeviceStep>(*devices[own], model.descriptor(), program,
                                     state ? &state->copy(own) : nullptr);
  }
  forEachMetric(
      model.descriptor(), 1, metricSums,
      [&](const MetricBlock &block) { metrics.push_back(block.sums); });
  for (int i = 0; i < ringSize; ++i)
    ring.push_back(std::make_unique<BatchContext>(
        model, program, buffers, metrics.data(), groupedSamples.data()));
}

void Replica::keepObserved() {
  observedSamples = std::make_unique<ObservedSamples>();
  for (const std::unique_ptr<BatchContext> &context : ring)
    context->keepObserved(observedSamples.get());
}

int64_t Replica::groupedCount() const {
  int64_t count = 0;
  for (const pdlabi::GroupedSamples &samples : groupedSamples)
    count += int64_t(samples.size());
  return count;
}

PullCounts Replica::pullCounts() const {
  PullCounts sum;
  for (const std::unique_ptr<BatchContext> &context : ring)
    sum += context->pullCounts();
  return sum;
}

void Replica::resetCounters() {
  std::fill(metricSums.sums.begin(), metricSums.sums.end(), 0);
  for (pdlabi::GroupedSamples &samples : groupedSamples)
    samples.clear();
  for (std::unique_ptr<BatchContext> &context : ring)
    context->pullCounts() = {};
}
