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

  // A response is delayed while the sender of the request is more than `bound`
  // steps ahead of the slowest sender. Responses to the slowest sender are
  // never delayed, so all senders progress.
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
