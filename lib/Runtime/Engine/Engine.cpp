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

void StepEngine::beforeRequests(const WorkerAction &) {}

Status StepEngine::resumeWorkers(RoundSource, WorkersAt) {
  return Status::internal("this engine has no workers that come back");
}

/// Whether rows that a batch creates change nothing before it is applied.
static bool mayPrepareAhead(const pdl_descriptor &descriptor,
                            const pdl_program &program) {
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[program.updates[i].symbol];
    if (symbol.kind == PDL_SYMBOL_TABLE &&
        descriptor.groups[symbol.group].untouched == PDL_UNTOUCHED_DENSE)
      return false;
  }
  return true;
}

Engine::Engine(Model &model, const pdl_program &program, int workers,
               Scheduler &scheduler, Communicator &communicator)
    : model(model), program(program), communicator(communicator),
      replicaSet(model, program,
                 ReplicaLayout::local(communicator.localGroupCount(), workers),
                 /*ringSize=*/2, scheduler),
      blocks(gradientBlocks(model.descriptor(), program)),
      updater(model, program, scheduler),
      preparesAhead(mayPrepareAhead(model.descriptor(), program)) {}

Expected<StepResult> Engine::step(std::span<const StepInput> inputs) {
  ownCosts.read += stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(inputs));
  ownCosts.prepare += stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(replicaSet.compute());
  ownCosts.compute += stopwatch.lap();
  return finishStep();
}

/// What follows `compute`.
Expected<StepResult> Engine::finishStep() {
  StepResult result;
  for (int r = 0; r < replicaSet.count(); ++r)
    result.samples += replicaSet[r].current().input().samples;
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
    model.quiesce();
  }
  return {};
}

Status Engine::begin(RoundSource newSource) {
  source = std::move(newSource);
  ended = isPrepared = false;
  failure = {};
  return {};
}

/// The rounds of `source`, empty behind its end.
Expected<std::span<const StepInput>> Engine::read() {
  if (ended)
    return std::span<const StepInput>();
  Expected<std::span<const StepInput>> inputs = source();
  ended = inputs && inputs->empty();
  ownCosts.read += stopwatch.lap();
  return inputs;
}

/// Computes what is prepared, and beside it prepares the next round.
Status Engine::computeBesideNext() {
  Expected<std::span<const StepInput>> following = read();
  if (!following)
    failure = following.status();
  if (!following || following->empty())
    return replicaSet.compute();
  ReplicaSet::Following next;
  Status status = replicaSet.compute(*following, next);
  ownCosts.prepareBeside += next.seconds;
  isPrepared = next.status.ok();
  failure = std::move(next.status);
  return status;
}

Expected<std::optional<StepResult>> Engine::next(bool last) {
  // What was done since the last step is none of its cost.
  stopwatch.lap();
  if (!failure.ok())
    return failure;
  if (isPrepared) {
    replicaSet.advance();
  } else {
    Expected<std::span<const StepInput>> inputs = read();
    if (!inputs)
      return inputs.status();
    if (inputs->empty())
      return std::optional<StepResult>();
    PDLRT_RETURN_IF_ERROR(replicaSet.prepare(*inputs));
    ownCosts.prepare += stopwatch.lap();
  }
  isPrepared = false;
  PDLRT_RETURN_IF_ERROR(preparesAhead && !last ? computeBesideNext()
                                               : replicaSet.compute());
  ownCosts.compute += stopwatch.lap();
  Expected<StepResult> result = finishStep();
  if (!result)
    return result.status();
  return std::optional<StepResult>(*result);
}

bool Engine::stopped() const { return stopSignal() != 0; }
