//===- Engine.cpp - The step of a program ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/Engine.h"

#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Engine/LocalCommunicator.h"

#include <utility>

using namespace pdlrt;
using NextBatch = Communicator::NextBatch;

StepEngine::~StepEngine() = default;

Status StepEngine::resume(const RoundSource &, const PendingStep &) {
  return Status::internal("this engine does not go on within a step");
}

void StepEngine::beforeRounds(const RoundAction &) {}

void StepEngine::beforeRequests(const WorkerAction &) {}

Status StepEngine::resumeWorkers(RoundSource, WorkersAt) {
  return Status::internal("this engine has no workers that come back");
}

Engine::Engine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler,
               std::unique_ptr<Communicator> ownCommunicator)
    : model(model), program(program), communicator(std::move(ownCommunicator)),
      exchangesNext(communicator->nextBatch() == NextBatch::InExchange),
      replicaSet(model, program, layout, /*ringSize=*/2, scheduler),
      blocks(gradientBlocks(model.descriptor(), program)) {
  if (EarlyGradients *early = communicator->early())
    replicaSet.giveEarly(blocks, *early);
  if (!program.frozen)
    model.setPrepared(this);
}

Engine::~Engine() {
  if (model.prepared() == this)
    model.setPrepared(nullptr);
}

void Engine::listPrepared(const Visit &visit) const {
  for (int r = 0; hasFollowing && r < replicaSet.count(); ++r)
    replicaSet[r].following().listNewRows(visit);
}

std::unique_ptr<Engine> Engine::createLocal(Model &model,
                                            const pdl_program &program,
                                            const ReplicaLayout &layout,
                                            Scheduler &scheduler) {
  return std::make_unique<Engine>(
      model, program, layout, scheduler,
      std::make_unique<LocalCommunicator>(model, program, layout, scheduler));
}

StepCosts Engine::costs() const {
  StepCosts result = ownCosts;
  communicator->addCosts(result);
  return result;
}

/// Of the current batches.
int64_t Engine::samples() {
  int64_t sum = 0;
  for (int r = 0; r < replicaSet.count(); ++r)
    sum += replicaSet[r].current().input().samples;
  return sum;
}

//===----------------------------------------------------------------------===//
// The batch of a step
//===----------------------------------------------------------------------===//

/// The next round of `source`; empty behind its end, and where there is `none`.
Expected<std::span<const StepInput>> Engine::read(bool none) {
  if (none || ended)
    return std::span<const StepInput>();
  Expected<std::span<const StepInput>> inputs = source();
  ended = inputs && inputs->empty();
  ownCosts.read += stopwatch.lap();
  return inputs;
}

Status Engine::prepare(std::span<const StepInput> inputs) {
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(inputs));
  ownCosts.prepare += stopwatch.lap();
  return {};
}

/// What was prepared last is the batch of the step that is due.
Status Engine::takeUp() {
  hasFollowing = false;
  PDLRT_RETURN_IF_ERROR(communicator->takeUp(replicaSet));
  for (int r = 0; r < replicaSet.count(); ++r)
    for (int32_t l = 0; l < program.lookup_count; ++l) {
      const pdl_lookup &lookup = replicaSet[r].current().lookup(l);
      ownCosts.ids += lookup.occurrence_count;
      ownCosts.keys += lookup.key_count;
    }
  ownCosts.prepare += stopwatch.lap();
  return {};
}

Status Engine::openPrepared() {
  PDLRT_RETURN_IF_ERROR(takeUp());
  return exchange(nullptr, {});
}

/// Brings the step that is due its batch, and what that reads of the state.
Status Engine::open() {
  if (std::exchange(isPrepared, false)) {
    replicaSet.advance();
    return openPrepared();
  }
  Expected<std::span<const StepInput>> inputs = read(/*none=*/false);
  if (!inputs)
    return inputs.status();
  if (inputs->empty() && !exchangesNext) {
    outcome.contributingNext = 0;
    return {};
  }
  PDLRT_RETURN_IF_ERROR(prepare(*inputs));
  return openPrepared();
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// What the current batches give; beside that, prepares `next`.
Expected<Engine::Groups> Engine::compute(std::span<const StepInput> next) {
  if (next.empty()) {
    PDLRT_RETURN_IF_ERROR(replicaSet.compute());
  } else {
    ReplicaSet::Following following;
    hasFollowing = true;
    PDLRT_RETURN_IF_ERROR(replicaSet.compute(next, following));
    ownCosts.prepareBeside += following.seconds;
    isPrepared = following.status.ok();
    failure = std::move(following.status);
    if (exchangesNext)
      PDLRT_RETURN_IF_ERROR(std::exchange(failure, Status()));
  }
  Expected<Groups> groups = replicaSet.sumGroups(blocks);
  ownCosts.compute += stopwatch.lap();
  return groups;
}

/// Instead of `compute`: others have what an earlier start has computed, and of
/// their answer the next step is made.
Expected<Engine::Groups> Engine::repeat(std::span<const StepInput> next) {
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(next));
  ownCosts.prepare += stopwatch.lap();
  return Groups();
}

/// Exchanges what the groups give in `step`; null: what opens one.
Status Engine::exchange(const PendingStep *step, Groups groups) {
  if (roundAction && exchangesNext)
    roundAction(step);
  StepOffer offer;
  offer.opens = step == nullptr;
  offer.beginsPass = std::exchange(beginsPass, false);
  offer.groups = groups;
  offer.contributesNext = (offer.opens || exchangesNext) && samples() > 0;
  offer.stop = step ? step->stop : stopSignal() != 0;
  offer.save = step && std::exchange(asksForSave, false);
  Expected<RoundOutcome> result = communicator->exchange(offer);
  // The communicator counts that by itself.
  stopwatch.lap();
  if (!result)
    return result.status();
  outcome = *result;
  return {};
}

Expected<StepResult> Engine::finish(PendingStep step, Groups groups) {
  PDLRT_RETURN_IF_ERROR(exchange(&step, groups));
  ++ownCosts.steps;
  StepResult result;
  static_cast<StepSums &>(result) = outcome;
  result.samples = step.samples;
  result.wantsSave = outcome.save;
  result.skipped = program.update_count > 0 && result.hasNoWeight();
  return result;
}

Expected<StepResult> Engine::step(std::span<const StepInput> inputs) {
  stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(prepare(inputs));
  PDLRT_RETURN_IF_ERROR(openPrepared());
  Expected<Groups> groups = compute({});
  if (!groups)
    return groups.status();
  return finish({samples(), stopSignal() != 0}, *groups);
}

Status Engine::begin(RoundSource newSource) {
  source = std::move(newSource);
  beginsPass = true;
  ended = isOpen = isPrepared = false;
  failure = {};
  stopwatch.lap();
  if (!exchangesNext)
    return {};
  PDLRT_RETURN_IF_ERROR(open());
  isOpen = true;
  return {};
}

Status Engine::resume(const RoundSource &newSource, const PendingStep &step) {
  source = newSource;
  beginsPass = ended = isPrepared = false;
  isOpen = true;
  pending = step;
  outcome = {};
  return {};
}

Expected<std::optional<StepResult>> Engine::next(bool last) {
  if (!failure.ok())
    return failure;
  // What was done since the last step is none of its cost.
  stopwatch.lap();
  if (!std::exchange(isOpen, exchangesNext))
    PDLRT_RETURN_IF_ERROR(open());
  if (!pending && outcome.contributingNext == 0)
    return std::optional<StepResult>();
  const bool readsAhead =
      !last && communicator->nextBatch() != NextBatch::AfterStep;
  Expected<std::span<const StepInput>> next = read(!readsAhead);
  if (!next && exchangesNext)
    return next.status();
  PendingStep step = {samples(), false};
  const bool isRepeated = pending.has_value();
  if (isRepeated)
    step = *std::exchange(pending, std::nullopt);
  const std::span<const StepInput> following =
      next ? *next : std::span<const StepInput>();
  Expected<Groups> groups = isRepeated ? repeat(following) : compute(following);
  if (!groups)
    return groups.status();
  if (!next)
    failure = next.status();
  if (exchangesNext) {
    if (isPrepared)
      replicaSet.advance();
    else if (!isRepeated)
      PDLRT_RETURN_IF_ERROR(prepare({}));
    isPrepared = false;
    PDLRT_RETURN_IF_ERROR(takeUp());
  }
  // Not before: what cannot be read asks for it too.
  if (!isRepeated)
    step.stop = stopSignal() != 0;
  Expected<StepResult> result = finish(step, *groups);
  if (!result)
    return result.status();
  return std::optional<StepResult>(*result);
}
