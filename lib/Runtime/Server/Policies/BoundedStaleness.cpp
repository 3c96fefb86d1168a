//===- BoundedStaleness.cpp - Nobody is far ahead of the slowest ----------===//
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

  // The slowest is never held back, so it goes on, and others after it.
  bool isAnswered(const StepProgress &progress,
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
