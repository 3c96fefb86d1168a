//===- EarlyGradients.cpp - Dense gradients during a step -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/EarlyGradients.h"

#include "pdlrt/Core/Trace.h"

#include <new>

using namespace pdlrt;

EarlyGradients::~EarlyGradients() = default;

EarlySums::EarlySums(std::span<const std::unique_ptr<Replica>> group,
                     std::span<const GradientBlock> ofProgram,
                     RunningSum &result, EarlyGradients &to)
    : replicas(group), blocks(ofProgram), sum(result), taker(to),
      missing(ofProgram.size()) {
  for (size_t r = 0; r < replicas.size(); ++r)
    replicas[r]->reportGradients(this, int(r));
}

void EarlySums::begin() {
  isActive = taker.beginStep();
  if (!isActive)
    return;
  present.clear();
  for (size_t r = 0; r < replicas.size(); ++r)
    if (replicas[r]->current().input().samples > 0)
      present.push_back(int(r));
  for (std::atomic<int> &each : missing)
    each.store(int(present.size()), std::memory_order_relaxed);
  sum.beginEarly(blocks);
}

void EarlySums::gradientReady(int, int32_t update) noexcept {
  // Acquire and release: the last worker sees the gradients of all others.
  if (!isActive || blocks[update].isTable ||
      missing[update].fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  try {
    const TraceSpan span("sum early", {update});
    std::vector<const void *> parts;
    for (int r : present)
      parts.push_back(
          replicas[r]->current().contribution().blocks[update].dense);
    taker.take(update, sum.sumEarly(blocks[update], size_t(update), parts));
  } catch (const std::bad_alloc &) {
    // The gradient is then sent with the exchange, if there is enough memory.
  }
}
