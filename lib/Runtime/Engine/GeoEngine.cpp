//===- GeoEngine.cpp - Steps on a copy, and exchanges ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/GeoEngine.h"

#include <utility>

using namespace pdlrt;

GeoEngine::GeoEngine(Model &model, const pdl_program &program,
                     const ReplicaLayout &layout, Scheduler &scheduler,
                     CopyExchange &copies, int64_t stepsOfExchange)
    : copies(copies), stepsOfExchange(stepsOfExchange),
      communicator(createLocalCommunicator(layout.localGroups, scheduler),
                   copies),
      engine(model, program, layout, scheduler, communicator) {}

Expected<const Contribution *>
GeoEngine::Noting::exchange(std::span<const GradientBlock> blocks,
                            std::span<const Contribution> groups) {
  Expected<const Contribution *> sum = sums->exchange(blocks, groups);
  if (sum)
    copies.note(**sum);
  return sum;
}

Status GeoEngine::begin(RoundSource source) {
  return engine.begin(std::move(source));
}

Expected<std::optional<StepResult>> GeoEngine::next(bool last) {
  Expected<std::optional<StepResult>> step = engine.next(last);
  if (!step || !*step || ++stepsSince < stepsOfExchange)
    return step;
  stepsSince = 0;
  PDLRT_RETURN_IF_ERROR(copies.exchange());
  return step;
}

StepCosts GeoEngine::costs() const {
  StepCosts result = engine.costs();
  result.exchange = copies.costs();
  return result;
}
