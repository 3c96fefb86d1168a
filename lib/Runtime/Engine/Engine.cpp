//===- Engine.cpp - Workers that step together ----------------------------===//
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
#include <variant>

using namespace pdlrt;
using NextBatch = Communicator::NextBatch;

StepEngine::~StepEngine() = default;

RequestObserver::~RequestObserver() = default;

RecoveryParticipant::~RecoveryParticipant() = default;

Engine::Engine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler,
               std::unique_ptr<Communicator> ownCommunicator)
    : model(model), program(program), communicator(std::move(ownCommunicator)),
      exchangesNext(communicator->nextBatch() == NextBatch::InExchange),
      replicaSet(model, program, layout, /*ringSize=*/2, scheduler),
      blocks(gradientBlocks(model.descriptor(), program)), metrics(program) {
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
  StepCosts result = metrics.costs();
  communicator->addCosts(result);
  return result;
}

/// Number of samples in the current batches.
int64_t Engine::samples() {
  int64_t sum = 0;
  for (int r = 0; r < replicaSet.count(); ++r)
    sum += replicaSet[r].current().input().samples;
  return sum;
}

//===----------------------------------------------------------------------===//
// Batches of steps
//===----------------------------------------------------------------------===//

/// Returns the next round of `source`. The result is empty at the end of
/// `source`, or if `none` is true.
Expected<std::span<const StepInput>> Engine::read(bool none) {
  if (none || ended)
    return std::span<const StepInput>();
  Expected<std::span<const StepInput>> inputs = source();
  ended = inputs && inputs->empty();
  metrics.read += stopwatch.lap();
  return inputs;
}

Status Engine::prepare(std::span<const StepInput> inputs) {
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(inputs));
  metrics.prepare += stopwatch.lap();
  return {};
}

/// Collects the keys and parameters that the last prepared batches read. These
/// batches belong to the pending step.
Status Engine::collectReads() {
  hasFollowing = false;
  PDLRT_RETURN_IF_ERROR(communicator->collectReads(replicaSet));
  for (int r = 0; r < replicaSet.count(); ++r)
    for (int32_t l = 0; l < program.lookup_count; ++l) {
      const pdl_lookup &lookup = replicaSet[r].current().lookup(l);
      metrics.ids += lookup.occurrence_count;
      metrics.keys += lookup.key_count;
    }
  metrics.prepare += stopwatch.lap();
  return {};
}

Status Engine::openPrepared() {
  PDLRT_RETURN_IF_ERROR(collectReads());
  return exchange(nullptr, {});
}

/// Reads and prepares the batches of the pending step, unless they are prepared
/// already, and requests the state that they read. Requests nothing if there
/// are no batches and the pass exchanges nothing for the next step.
Status Engine::open() {
  if (std::exchange(isPrepared, false)) {
    replicaSet.advance();
    return openPrepared();
  }
  Expected<std::span<const StepInput>> inputs = read(/*none=*/false);
  if (!inputs)
    return inputs.status();
  if (inputs->empty() && !exchangesNext) {
    outcome.sendersWithNextBatch = 0;
    return {};
  }
  PDLRT_RETURN_IF_ERROR(prepare(*inputs));
  return openPrepared();
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Computes the current batches, and concurrently prepares `next`.
Expected<Engine::Groups> Engine::compute(std::span<const StepInput> next) {
  if (next.empty()) {
    PDLRT_RETURN_IF_ERROR(replicaSet.compute());
  } else {
    ReplicaSet::Following following;
    hasFollowing = true;
    PDLRT_RETURN_IF_ERROR(replicaSet.compute(next, following));
    metrics.prepareInBackground += following.seconds;
    isPrepared = following.status.ok();
    failure = std::move(following.status);
    if (exchangesNext)
      PDLRT_RETURN_IF_ERROR(std::exchange(failure, Status()));
  }
  Expected<Groups> groups = replicaSet.sumGroups(blocks);
  metrics.compute += stopwatch.lap();
  return groups;
}

/// Replaces `compute` if the previous incarnation of this process has already
/// sent this step's results. Only prepares `next`: servers repeat their
/// response to these results.
Expected<Engine::Groups> Engine::repeat(std::span<const StepInput> next) {
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(next));
  metrics.prepare += stopwatch.lap();
  return Groups();
}

/// Exchanges the partial sums `groups` of `step`. If `step` is null, only
/// requests the state for the first step.
Status Engine::exchange(const PendingStep *step, Groups groups) {
  if (observer && exchangesNext)
    observer->beforeRound(step);
  StepRequest stepRequest;
  stepRequest.requestOnly = step == nullptr;
  stepRequest.beginsPass = std::exchange(beginsPass, false);
  stepRequest.groups = groups;
  stepRequest.hasNextBatch =
      (stepRequest.requestOnly || exchangesNext) && samples() > 0;
  stepRequest.stop = step ? step->stop : stopSignal() != 0;
  stepRequest.save = step && std::exchange(requestsSave, false);
  Expected<RoundOutcome> result = communicator->exchange(stepRequest);
  // The communicator measures this time itself.
  stopwatch.lap();
  if (!result)
    return result.status();
  outcome = *result;
  return {};
}

Expected<StepResult> Engine::finish(PendingStep step, Groups groups) {
  PDLRT_RETURN_IF_ERROR(exchange(&step, groups));
  ++metrics.steps;
  StepResult result;
  static_cast<StepSums &>(result) = outcome;
  result.samples = step.samples;
  result.wantsSave = outcome.save;
  result.skipped = program.update_count > 0 && result.hasNoWeight();
  metrics.samples += result.samples;
  metrics.skippedUpdates += result.skipped;
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

Status Engine::resume(RoundSource newSource, ResumePoint point) {
  const auto *step = std::get_if<PendingStep>(&point);
  if (!step)
    return Status::internal("this engine has no workers that can recover");
  source = std::move(newSource);
  beginsPass = ended = isPrepared = false;
  isOpen = true;
  pending = *step;
  outcome = {};
  return {};
}

Expected<std::optional<StepResult>> Engine::next(bool last) {
  if (!failure.ok())
    return failure;
  // Exclude the time since the last step from the costs.
  stopwatch.lap();
  if (!std::exchange(isOpen, exchangesNext))
    PDLRT_RETURN_IF_ERROR(open());
  if (!pending && outcome.sendersWithNextBatch == 0)
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
    PDLRT_RETURN_IF_ERROR(collectReads());
  }
  // Checked only after the next batch was read, because the reader may itself
  // request a shutdown.
  if (!isRepeated)
    step.stop = stopSignal() != 0;
  Expected<StepResult> result = finish(step, *groups);
  if (!result)
    return result.status();
  return std::optional<StepResult>(*result);
}
