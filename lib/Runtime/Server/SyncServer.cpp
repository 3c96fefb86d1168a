//===- SyncServer.cpp - Sums over all trainers, then applies --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step is one round of Exchange requests. If a clip needs the norm of the
// whole gradient, a round of Norm requests follows. The requests of the last
// round of a step contain the keys of the next step. Everything that can fail
// is done before the state changes: sums, the check for NaN and infinity, and
// the creation of rows. As much of this as possible is done while the server
// waits for other trainers.
//
//===----------------------------------------------------------------------===//

#include "Server/StepMode.h"

#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {

class SyncMode final : public StepMode {
public:
  explicit SyncMode(const ModeSetup &setup)
      : StepMode(setup), incoming(state.trainers()), pushed(state.trainers()),
        pulled(state.trainers()), next(state.trainers()) {}

  const RoundPolicy &roundPolicy() const override { return roundsOfSteps(); }
  bool requestSave() override {
    isSaveRequested = true;
    return true;
  }
  int64_t saveRequestsOfTrainers() const override { return trainerRequests; }
  StateServer::LastStep lastStep() const override {
    return {!normsArePending, outcome.sums};
  }
  uint64_t stepsInState() const override { return steps; }

  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind kind) override;
  Expected<std::vector<Message>>
  respondToSteps(std::span<const Envelope> requests) override;
  std::vector<const Pulled *> pendingKeys() const override {
    std::vector<const Pulled *> all;
    for (const std::vector<Pulled> *of : {&pulled, &next})
      for (const Pulled &each : *of)
        all.push_back(&each);
    return all;
  }

private:
  Status checkNorms(const Envelope &request, const ExchangeMessage &message,
                    const ExchangeLayout &layout);
  Status endSum(const ExchangeLayout &layout);
  Message sumsResponse(const ExchangeLayout &layout);
  Status finishStep(const ExchangeLayout &layout);

  /// Indexed by trainer. `incoming`: its request of the current round.
  /// `pushed`: its request with the gradients of the step that is not applied
  /// yet. `pulled`: the keys of its last request.
  std::vector<std::shared_ptr<const ExchangeMessage>> incoming, pushed;
  std::vector<Pulled> pulled;
  /// Keys of the next step, requested by trainers that have contributed.
  std::vector<Pulled> next;
  /// Sum over the trainers that have contributed to the current round.
  RunningSum sum;
  /// Sum that is applied next, and the outcome that its responses report.
  PartialSum merged;
  StepOutcome outcome;
  /// True if sums were sent and their norms have not arrived.
  bool normsArePending = false;
  /// True if a trainer was requested to stop, as a request of this step states.
  bool stop = false;
  /// True if a request of this step asks for a checkpoint after this step.
  bool save = false;
  /// True if this server wants a checkpoint (`requestSave`), after the next
  /// step with gradients.
  std::atomic<bool> isSaveRequested = false;
  std::atomic<int64_t> trainerRequests = 0;
  /// Number of rounds with gradients that were applied, or had no weight.
  std::atomic<uint64_t> steps = 0;
};

} // namespace

static Status outOfStep(const Envelope &request, const std::string &what) {
  return Status::internal("trainer " + std::to_string(request.trainer) + " " +
                          what + ": this is a fault of PDL, please report it");
}

Status SyncMode::checkNorms(const Envelope &request,
                            const ExchangeMessage &message,
                            const ExchangeLayout &layout) {
  if (message.head().contributes != merged.present)
    return outOfStep(request, merged.present
                                  ? "sends no norms, although they are expected"
                                  : "sends norms that were not requested");
  for (uint32_t other = 0; other < state.trainers(); ++other) {
    if (other == request.trainer || !incoming[other])
      continue;
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const auto mine = message.section(c),
                 theirs = incoming[other]->section(c);
      if (layout.channel(c).kind == PDL_CHANNEL_NORM &&
          !std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end()))
        return Status::failedPrecondition(
            "trainers " + std::to_string(other) + " and " +
            std::to_string(request.trainer) +
            " computed different norms of one gradient; are their machines "
            "of one kind, and their programs of one translation?");
    }
  }
  return {};
}

Status SyncMode::checkStep(const Envelope &request, ExchangeMessage message,
                           const ExchangeLayout &layout) {
  const uint32_t trainer = request.trainer;
  const bool isNorm = request.kind == MessageKind::Norm;
  for (uint32_t other = 0; other < state.trainers(); ++other) {
    if (other == trainer || !incoming[other])
      continue;
    const ExchangeHead &theirs = incoming[other]->head();
    if (theirs.program != message.head().program)
      return outOfStep(request, "trains another program than trainer " +
                                    std::to_string(other));
    if (theirs.withoutParameters != message.head().withoutParameters)
      return outOfStep(request,
                       "applies the rules of parameters otherwise than "
                       "trainer " +
                           std::to_string(other));
  }
  if (isNorm && !layout.hasNormRequest())
    return outOfStep(request, "sends norms of a program without a clip");
  if (!isNorm && normsArePending)
    return outOfStep(request, "sends gradients while norms are due");
  if (!isNorm && message.head().contributes &&
      pulled[trainer].program != layout.programIndex())
    return outOfStep(request, "sends gradients of a step it is not in");
  PDLRT_RETURN_IF_ERROR(layout.check(
      isNorm ? ExchangeForm::Norm : ExchangeForm::Exchange, state.rank(),
      message, StateServerRows::pushedRows(layout, pulled[trainer])));
  if (isNorm)
    PDLRT_RETURN_IF_ERROR(checkNorms(request, message, layout));
  incoming[trainer] =
      std::make_shared<const ExchangeMessage>(std::move(message));
  return {};
}

/// Adds the gradients of a trainer to the sum, and creates rows for the keys
/// that it requests. Called for trainers in rank order.
Status SyncMode::takeStep(const Envelope &request, Turn turn) {
  (void)turn; // All requests are of the round.
  const TraceSpan span("push");
  state.stopwatch.lap();
  const uint32_t trainer = request.trainer;
  const ExchangeMessage &message = *incoming[trainer];
  const ExchangeLayout &layout = state.layouts[message.head().program];
  if (request.kind == MessageKind::Exchange) {
    if (trainer == 0)
      sum.begin(state.blocks[layout.programIndex()]);
    PDLRT_RETURN_IF_ERROR(
        sum.add(stepRows.partialSumOf(layout, message, pulled[trainer]),
                state.scheduler));
    state.metrics.sum += state.stopwatch.lap();
    if (layout.hasNormRequest())
      return {};
  }
  // Rows may be created before all trainers have arrived, because no trainer
  // reads them earlier. They are not part of a save in progress: trainer 0
  // begins a save before its request, which is the first one to be taken in a
  // round.
  if (message.head().hasNextBatch) {
    next[trainer].program = layout.programIndex();
    next[trainer].message = incoming[trainer];
    PDLRT_RETURN_IF_ERROR(stepRows.insert({&next[trainer]}));
    state.metrics.apply += state.stopwatch.lap();
  }
  return {};
}

/// Finishes the sum of this step.
Status SyncMode::endSum(const ExchangeLayout &layout) {
  Expected<PartialSum> ended = state.closeSum(sum, layout.programIndex());
  if (!ended)
    return ended.status();
  merged = std::move(*ended);
  state.metrics.sum += state.stopwatch.lap();
  return {};
}

Message SyncMode::sumsResponse(const ExchangeLayout &layout) {
  ExchangeHead head;
  head.contributes = merged.present;
  ExchangeWriter writer(layout, head);
  const bool isApplied = merged.hasWeight();
  for (int32_t c = 0; merged.present && c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    if (channel.kind == PDL_CHANNEL_LOSS) {
      const ObjectiveSums &sums = merged.objectives[layout.objectiveOf(c)];
      const double loss[] = {sums.loss, sums.weight};
      writer.addCopy(c, loss, sizeof(loss));
    }
    if (channel.kind != PDL_CHANNEL_PARTIAL_NORM)
      continue;
    // If the sum has no weight, nothing is applied, so norms do not matter. If
    // parameters are held by the trainers, they also compute the norms of the
    // parameters' gradients.
    const bool isElsewhere =
        pushed[0]->head().withoutParameters &&
        state.descriptor.symbols[channel.symbol].kind != PDL_SYMBOL_TABLE;
    std::vector<double> partials(layout.sectionBytes(state.rank(), c) /
                                 sizeof(double));
    if (isApplied && !isElsewhere && !partials.empty()) {
      const std::vector<double> &all =
          state.updaters[layout.programIndex()]->partialNorms(
              updateOf(layout, channel.symbol), merged);
      if (state.descriptor.symbols[channel.symbol].kind == PDL_SYMBOL_TABLE) {
        const auto &shards =
            state.placement.unitsOf(channel.symbol, state.rank());
        for (size_t i = 0; i < shards.size(); ++i)
          partials[i] = all[shards[i]];
      } else {
        partials = all;
      }
    }
    writer.addCopy(c, partials.data(), partials.size() * sizeof(double));
  }
  return writer.finish();
}

/// Applies `merged`.
Status SyncMode::finishStep(const ExchangeLayout &layout) {
  std::vector<double> norms(state.descriptor.clip_count);
  outcome = {};
  outcome.setSums(merged);
  outcome.applied = merged.present && merged.hasWeight();
  outcome.stop = stop;
  // A round that only requests the first state has no step, so trainers would
  // not save after it. The request to save waits for the next step.
  outcome.save = (merged.present && isSaveRequested.exchange(false)) || save;
  trainerRequests += save ? 1 : 0;
  for (uint32_t t = 0; t < state.trainers(); ++t) {
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (const auto norm = incoming[t]->sectionOf<double>(c);
          layout.channel(c).kind == PDL_CHANNEL_NORM && !norm.empty())
        norms[layout.channel(c).clip] = norm[0];
    outcome.contributors += incoming[t]->head().hasNextBatch;
  }
  if (outcome.applied) {
    const TraceSpan span("apply");
    Updater &updater = *state.updaters[layout.programIndex()];
    updater.makeRoom();
    PDLRT_RETURN_IF_ERROR(updater.finish(merged, norms));
    state.model.quiesce();
    for (const Pulled &each : next)
      stepRows.renew(each);
  }
  state.metrics.steps += merged.present;
  steps += merged.present ? 1 : 0;
  state.metrics.apply += state.stopwatch.lap();
  return {};
}

Status SyncMode::closeStep(MessageKind kind) {
  const ExchangeLayout &layout = state.layouts[incoming[0]->head().program];
  for (const std::shared_ptr<const ExchangeMessage> &message : incoming) {
    stop |= message->head().stopRequested;
    save |= message->head().saveRequested;
  }
  if (kind == MessageKind::Norm)
    return finishStep(layout);
  pushed = incoming;
  PDLRT_RETURN_IF_ERROR(endSum(layout));
  if (!layout.hasNormRequest())
    return finishStep(layout);
  normsArePending = true;
  return {};
}

Expected<std::vector<Message>>
SyncMode::respondToSteps(std::span<const Envelope> requests) {
  const ExchangeLayout &layout = state.layouts[incoming[0]->head().program];
  if (normsArePending && requests.front().kind == MessageKind::Exchange) {
    incoming.assign(state.trainers(), nullptr);
    return std::vector<Message>(requests.size(), sumsResponse(layout));
  }
  std::vector<StateFor> to;
  for (const Envelope &request : requests) {
    const ExchangeHead &head = incoming[request.trainer]->head();
    to.push_back({&next[request.trainer], head.allValues, &outcome,
                  /*seen=*/nullptr, head.withoutParameters});
  }
  std::vector<Message> responses = stepResponses.stateResponses(layout, to);
  // The keys of the next step replace those of this one.
  merged = {};
  stop = save = normsArePending = false;
  for (uint32_t t = 0; t < state.trainers(); ++t) {
    incoming[t].reset();
    pushed[t].reset();
    pulled[t] = std::exchange(next[t], {});
  }
  return responses;
}

std::unique_ptr<StepMode> pdlrt::createSyncMode(const ModeSetup &setup) {
  return std::make_unique<SyncMode>(setup);
}
