//===- ObservedSamples.cpp - Observations of metrics in a batch -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Kernels/ObservedSamples.h"

#include <new>
#include <utility>

using namespace pdlrt;

/// Object to which the running stage adds its samples. The ABI has no argument
/// for it. A thread-local variable suffices, because a stage calls the runtime
/// on its own thread.
static thread_local ObservedSamples *current = nullptr;

ObservedSamples::Scope::Scope(ObservedSamples *who)
    : before(std::exchange(current, who)) {
  if (who)
    who->clear();
}

ObservedSamples::Scope::~Scope() { current = before; }

ObservedSamples *ObservedSamples::ofThread() { return current; }

void ObservedSamples::clear() {
  observations.clear();
  hasLost = false;
}

void ObservedSamples::add(int32_t type, int64_t count, int64_t width,
                          const void *predictions, int64_t labelWidth,
                          const void *labels, const void *weights,
                          const int64_t *groups, const double *sums) noexcept {
  const size_t size = type == PDL_F64 ? sizeof(double) : sizeof(float);
  const auto copy = [&](const void *from, int64_t elements) {
    const auto *bytes = static_cast<const std::byte *>(from);
    return from ? std::vector<std::byte>(bytes, bytes + size_t(elements) * size)
                : std::vector<std::byte>();
  };
  try {
    Observation seen;
    seen.sums = sums;
    seen.type = type;
    seen.count = count;
    seen.width = width;
    seen.labelWidth = labelWidth;
    seen.predictions = copy(predictions, count * width);
    seen.labels = copy(labels, count * labelWidth);
    seen.weights = copy(weights, count);
    if (groups)
      seen.groups.assign(groups, groups + count);
    observations.push_back(std::move(seen));
  } catch (const std::bad_alloc &) {
    hasLost = true;
  }
}
