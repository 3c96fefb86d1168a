//===- Engine.cpp - The step of a program ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/Engine.h"

#include "pdlrt/Core/StopSignal.h"

using namespace pdlrt;

StepEngine::~StepEngine() = default;

Status StepEngine::resume(const RoundSource &, const PendingStep &) {
  return Status::internal("this engine does not go on within a step");
}

void StepEngine::beforeRounds(const RoundAction &) {}

Engine::Engine(Model &model, const pdl_program &program, int workers,
               Scheduler &scheduler, Communicator &communicator)
    : model(model), program(program), communicator(communicator),
      replicaSet(model, program,
                 ReplicaLayout::local(communicator.localGroupCount(), workers),
                 /*ringSize=*/1, scheduler),
      blocks(gradientBlocks(model.descriptor(), program)),
      updater(model, program, scheduler) {}

Expected<StepResult> Engine::step(std::span<const StepInput> inputs) {
  ownCosts.read += stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(inputs));
  ownCosts.prepare += stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(replicaSet.compute());
  ownCosts.compute += stopwatch.lap();
  StepResult result;
  for (const StepInput &input : inputs)
    result.samples += input.samples;
  if (program.objective_count > 0)
    PDLRT_RETURN_IF_ERROR(exchangeAndApply(result));
  ownCosts.apply += stopwatch.lap();
  ++ownCosts.steps;
  return result;
}

Status Engine::exchangeAndApply(StepResult &result) {
  Expected<std::span<const Contribution>> groups = replicaSet.sumGroups(blocks);
  if (!groups)
    return groups.status();
  ownCosts.compute += stopwatch.lap();
  Expected<const Contribution *> merged =
      communicator.exchange(blocks, *groups);
  if (!merged)
    return merged.status();
  result.take(**merged);
  if (program.update_count > 0) {
    result.skipped = result.hasNoWeight();
    if (result.skipped)
      return {};
    if (replicaSet.count() > 1 || hasSmallWeight(**merged))
      PDLRT_RETURN_IF_ERROR(
          checkFiniteSums(model.descriptor(), blocks, **merged));
    PDLRT_RETURN_IF_ERROR(updater.apply(**merged));
  }
  return {};
}

Status Engine::begin(RoundSource newSource) {
  source = std::move(newSource);
  return {};
}

Expected<std::optional<StepResult>> Engine::next(bool /*last*/) {
  // What was done since the last step is none of its cost.
  stopwatch.lap();
  Expected<std::span<const StepInput>> inputs = source();
  if (!inputs)
    return inputs.status();
  if (inputs->empty())
    return std::optional<StepResult>();
  Expected<StepResult> result = step(*inputs);
  if (!result)
    return result.status();
  return std::optional<StepResult>(*result);
}

bool Engine::stopped() const { return stopSignal() != 0; }
