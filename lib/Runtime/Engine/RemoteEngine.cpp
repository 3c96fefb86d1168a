//===- RemoteEngine.cpp - The step of a program with servers --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/RemoteEngine.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/StopSignal.h"

using namespace pdlrt;

RemoteState::~RemoteState() = default;

PushSink::~PushSink() = default;

static Status pullsWithSteps() {
  return Status::internal("this state is not pulled beside steps");
}

Status RemoteState::beginPull(const RoundOffer &) { return pullsWithSteps(); }

Expected<RoundOutcome> RemoteState::endPull(const RoundOffer &) {
  return pullsWithSteps();
}

Status pdlrt::checkRemoteProgram(const pdl_descriptor &descriptor,
                                 const pdl_program &program) {
  for (int32_t l = 0; l < program.lookup_count; ++l)
    for (int32_t other = 0; other < l; ++other)
      if (program.lookups[other].symbol == program.lookups[l].symbol)
        return Status::internal(
            std::string("program @") + program.name + " looks up table @" +
            descriptor.symbols[program.lookups[l].symbol].name +
            " twice, which a program with servers cannot; translate the model "
            "again with --mode=local");
  return {};
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

RemoteEngine::RemoteEngine(Model &model, const pdl_program &program,
                           const ReplicaLayout &layout, Scheduler &scheduler,
                           RemoteState &state)
    : model(model), program(program), state(state),
      replicaSet(model, program, layout, /*ringSize=*/2, scheduler),
      blocks(gradientBlocks(model.descriptor(), program)) {}

bool RemoteEngine::sumsOverJob() const {
  return modeOf(model.descriptor()).stepsAreRounds;
}

Expected<std::span<const StepInput>> RemoteEngine::read(bool none) {
  if (none)
    return std::span<const StepInput>();
  Expected<std::span<const StepInput>> inputs = source();
  ownCosts.read += stopwatch.lap();
  return inputs;
}

Status RemoteEngine::prepare(std::span<const StepInput> inputs) {
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(inputs));
  ownCosts.prepare += stopwatch.lap();
  return {};
}

Status RemoteEngine::computeBeside(std::span<const StepInput> next) {
  ReplicaSet::Following following;
  PDLRT_RETURN_IF_ERROR(replicaSet.compute(next, following));
  ownCosts.prepareBeside += following.seconds;
  return std::move(following.status);
}

Status RemoteEngine::gatherRows() {
  PDLRT_RETURN_IF_ERROR(rows.gather(model.descriptor(), program, replicaSet, 0,
                                    replicaSet.count()));
  ownCosts.prepare += stopwatch.lap();
  return {};
}

int64_t RemoteEngine::samples() {
  int64_t sum = 0;
  for (int r = 0; r < replicaSet.count(); ++r)
    sum += replicaSet[r].current().input().samples;
  return sum;
}

StepCosts RemoteEngine::costs() const {
  StepCosts result = ownCosts;
  result.exchange = state.costsOf(program);
  return result;
}

Status RemoteEngine::exchange(const PendingStep *step,
                              const Contribution *sum) {
  if (roundAction)
    roundAction(step);
  RoundOffer offer;
  offer.first = step == nullptr;
  offer.sum = sum;
  offer.next = rows.requests();
  offer.contributesNext = samples() > 0;
  offer.stop = step ? step->stop : stopSignal() != 0;
  Expected<RoundOutcome> result = state.exchange(offer);
  if (!result)
    return result.status();
  outcome = *result;
  return {};
}

Status RemoteEngine::begin(RoundSource newSource) {
  source = std::move(newSource);
  stopwatch.lap();
  Expected<std::span<const StepInput>> first = read(/*none=*/false);
  if (!first)
    return first.status();
  PDLRT_RETURN_IF_ERROR(prepare(*first));
  PDLRT_RETURN_IF_ERROR(gatherRows());
  return exchange(nullptr, nullptr);
}

Status RemoteEngine::resume(const RoundSource &newSource,
                            const PendingStep &step) {
  source = newSource;
  pending = step;
  outcome = {};
  return {};
}

Expected<std::optional<StepResult>> RemoteEngine::next(bool last) {
  if (!pending && outcome.contributingNext == 0)
    return std::optional<StepResult>();
  // What was done since the last step is none of its cost.
  stopwatch.lap();
  Expected<std::span<const StepInput>> next = read(last);
  if (!next)
    return next.status();
  PendingStep step = {samples(), false};
  const Contribution *sum = nullptr;
  const bool isRepeated = pending.has_value();
  if (isRepeated) {
    // Servers have what was computed; of their answer the next step is made.
    step = *pending;
    pending.reset();
    PDLRT_RETURN_IF_ERROR(prepare(*next));
  } else {
    PDLRT_RETURN_IF_ERROR(next->empty() ? replicaSet.compute()
                                        : computeBeside(*next));
    Expected<std::span<const Contribution>> groups =
        replicaSet.sumGroups(blocks);
    if (!groups)
      return groups.status();
    if (groups->front().present)
      sum = &groups->front();
    ownCosts.compute += stopwatch.lap();
    if (next->empty())
      PDLRT_RETURN_IF_ERROR(prepare({}));
    else
      replicaSet.advance();
  }
  PDLRT_RETURN_IF_ERROR(gatherRows());
  // Not before: what cannot be read asks for it too.
  if (!isRepeated)
    step.stop = stopSignal() != 0;
  PDLRT_RETURN_IF_ERROR(exchange(&step, sum));
  ++ownCosts.steps;
  StepResult result;
  result.samples = step.samples;
  result.lossSum = outcome.lossSum;
  result.weightSum = outcome.weightSum;
  result.otherWeights = outcome.otherWeights;
  result.skipped = result.hasNoWeight();
  return std::optional<StepResult>(result);
}

//===----------------------------------------------------------------------===//
// Frozen programs
//===----------------------------------------------------------------------===//

RemoteFrozenEngine::RemoteFrozenEngine(Model &model, const pdl_program &program,
                                       const ReplicaLayout &layout,
                                       Scheduler &scheduler, RemoteState &state)
    : model(model), program(program), state(state),
      replicaSet(model, program, layout, /*ringSize=*/1, scheduler),
      unknown(program.lookup_count), unknownPointers(program.lookup_count) {}

Status RemoteFrozenEngine::begin(RoundSource newSource) {
  source = std::move(newSource);
  isFirst = true;
  return {};
}

bool RemoteFrozenEngine::stopped() const { return stopSignal() != 0; }

/// Each replica counts the ids of the keys that have no row, as a frozen
/// program with its own tables does.
void RemoteFrozenEngine::countUnknown(const RowRequest &request,
                                      int32_t index) {
  const pdl_symbol &table =
      model.descriptor().symbols[program.lookups[index].symbol];
  const size_t bytes = sentRowBytes(table, /*frozen=*/true);
  auto *base = static_cast<const char *>(request.rows);
  for (int r = 0; r < replicaSet.count(); ++r) {
    BatchContext &context = replicaSet[r].current();
    const pdl_lookup &lookup = context.lookup(index);
    PullCounts &counts = context.pullCounts();
    int64_t &count = table.unknown == PDL_UNKNOWN_ZERO ? counts.unknownZero
                                                       : counts.unknownInitial;
    for (int64_t u = 0; u < lookup.key_count; ++u) {
      const size_t place =
          size_t(static_cast<const char *>(lookup.rows[u]) - base) / bytes;
      if (unknown[index][place])
        count += lookup.key_splits[u + 1] - lookup.key_splits[u];
    }
  }
}

StepCosts RemoteFrozenEngine::costs() const {
  StepCosts result = ownCosts;
  result.exchange = state.costsOf(program);
  return result;
}

Expected<std::optional<StepResult>> RemoteFrozenEngine::next(bool /*last*/) {
  stopwatch.lap();
  Expected<std::span<const StepInput>> inputs = source();
  if (!inputs)
    return inputs.status();
  ownCosts.read += stopwatch.lap();
  if (inputs->empty())
    return std::optional<StepResult>();
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(*inputs));
  PDLRT_RETURN_IF_ERROR(rows.gather(model.descriptor(), program, replicaSet, 0,
                                    replicaSet.count()));
  for (int32_t l = 0; l < program.lookup_count; ++l) {
    unknown[l].assign(rows.requests()[l].keyCount, 0);
    unknownPointers[l] = unknown[l].data();
  }
  ownCosts.prepare += stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(
      state.pull(program, isFirst, rows.requests(), unknownPointers));
  isFirst = false;
  for (int32_t l = 0; l < program.lookup_count; ++l)
    countUnknown(rows.requests()[l], l);
  stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(replicaSet.compute());
  ownCosts.compute += stopwatch.lap();
  ++ownCosts.steps;
  StepResult result;
  for (const StepInput &input : *inputs)
    result.samples += input.samples;
  Expected<std::span<const Contribution>> groups = replicaSet.sumGroups({});
  if (!groups)
    return groups.status();
  if (groups->front().present)
    result.take(groups->front());
  return std::optional<StepResult>(result);
}
