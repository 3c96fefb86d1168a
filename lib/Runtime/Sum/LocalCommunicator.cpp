//===- LocalCommunicator.cpp - Group sums in one process ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sum/Communicator.h"

#include "pdlrt/Sum/RunningSum.h"

using namespace pdlrt;

Communicator::~Communicator() = default;

namespace {

class LocalCommunicator final : public Communicator {
public:
  LocalCommunicator(int groups, Scheduler &scheduler)
      : groups(groups), scheduler(scheduler) {}

  int groupCount() const override { return groups; }
  int localGroupCount() const override { return groups; }

  Expected<const Contribution *>
  exchange(std::span<const GradientBlock> blocks,
           std::span<const Contribution> contributions) override {
    PDLRT_RETURN_IF_ERROR(sum.assign(blocks, contributions, scheduler));
    return &sum.result();
  }

private:
  int groups;
  Scheduler &scheduler;
  RunningSum sum;
};

} // namespace

std::unique_ptr<Communicator>
pdlrt::createLocalCommunicator(int groupCount, Scheduler &scheduler) {
  return std::make_unique<LocalCommunicator>(groupCount, scheduler);
}
