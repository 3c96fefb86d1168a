//===- GeoEngine.cpp - Steps on a local copy of the model -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/GeoEngine.h"

#include "pdlrt/Engine/LocalCommunicator.h"

#include <utility>

using namespace pdlrt;

namespace {

/// Communicator of a local copy. Records which rows change before an update is
/// applied.
class CopyCommunicator final : public LocalCommunicator {
public:
  CopyCommunicator(Model &model, const pdl_program &program,
                   const ReplicaLayout &layout, Scheduler &scheduler,
                   CopyExchange &copies)
      : LocalCommunicator(model, program, layout, scheduler), copies(copies) {}

protected:
  void noteUpdate(const PartialSum &merged) override { copies.note(merged); }

private:
  CopyExchange &copies;
};

} // namespace

GeoEngine::GeoEngine(Model &model, const pdl_program &program,
                     const ReplicaLayout &layout, Scheduler &scheduler,
                     CopyExchange &copies, int64_t stepsOfExchange)
    : copies(copies), stepsOfExchange(stepsOfExchange),
      engine(model, program, layout, scheduler,
             std::make_unique<CopyCommunicator>(model, program, layout,
                                                scheduler, copies)) {}

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
