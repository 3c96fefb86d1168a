//===- BoundedStaleness.cpp - Policy for bounded staleness ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Server/Policies/RoundsOfAll.h"

using namespace pdlrt;

namespace {

class BoundedStaleness final : public RoundsOfSums {
public:
  explicit BoundedStaleness(int64_t bound) : bound(bound) {}

  // The slowest sender is never delayed, so it progresses, and the others after
  // it.
  bool isRespondedTo(const StepProgress &progress,
                     const Envelope &request) const override {
    const std::optional<int64_t> slowest = progress.slowest();
    return !slowest || progress.stepsOf(request) - *slowest <= bound;
  }

private:
  const int64_t bound;
};

} // namespace

std::unique_ptr<RoundPolicy> pdlrt::createBoundedStaleness(int64_t bound) {
  return std::make_unique<BoundedStaleness>(bound);
}
