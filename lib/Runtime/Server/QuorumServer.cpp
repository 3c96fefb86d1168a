//===- QuorumServer.cpp - Rounds that do not wait for stragglers ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode quorum: the gradients of the trainers that arrive first are summed and
// applied. Later gradients count in the next round, or not at all, depending on
// the policy (RoundPolicy.h). If a sender gets its response before the round is
// closed, its gradients are added when they arrive. The gradients of all other
// trainers are added after them, in rank order. If the quorum is all trainers,
// results are bit-identical to those of mode sync.
//
//===----------------------------------------------------------------------===//

#include "Server/StepMode.h"

#include "pdlrt/Core/Trace.h"
#include "pdlrt/Table/QuiescentPoints.h"

#include <algorithm>
#include <list>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {

class QuorumMode final : public StepMode {
public:
  explicit QuorumMode(const ModeSetup &setup)
      : StepMode(setup),
        policy(createQuorum(setup.bounds.quorum.value_or(state.trainers()),
                            setup.bounds.late)),
        senders(state.trainers()) {
    for (Sender &sender : senders)
      sender.number = points.add();
  }

  const RoundPolicy &roundPolicy() const override { return *policy; }

  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind kind) override;
  Expected<std::vector<Message>>
  respondToSteps(std::span<const Envelope> requests) override;
  std::vector<const Pulled *> pendingKeys() const override {
    std::vector<const Pulled *> all;
    for (const Sender &sender : senders)
      all.insert(all.end(), {&sender.pulled, &sender.next});
    for (const Pulled &each : summedKeys)
      all.push_back(&each);
    return all;
  }

private:
  /// State of one trainer.
  struct Sender {
    /// Keys of the trainer's request before the last one. The gradients in its
    /// last request belong to these keys.
    Pulled pulled;
    /// `incoming`: the trainer's last request. `next`: the keys that it
    /// requests.
    std::shared_ptr<const ExchangeMessage> incoming;
    Pulled next;
    /// Index in `points`. The trainer passes its quiescent point once per
    /// round: the rows that its last request has read were found before the
    /// round ends, and are used after it.
    size_t number = 0;
    bool mustPass = false, hasPassed = false;
  };
  Status addTo(const ExchangeLayout &layout, Sender &sender);
  void pass(Sender &sender);
  static std::vector<ObjectiveSums> ownSums(const ExchangeLayout &layout,
                                            const ExchangeMessage &message);

  const std::unique_ptr<RoundPolicy> policy;
  std::vector<Sender> senders;
  QuiescentPoints points;
  /// True if gradients were added to `sum` since the last round. `sum` refers
  /// to the members below.
  bool isBegun = false;
  RunningSum sum;
  std::vector<std::shared_ptr<const ExchangeMessage>> summed;
  /// List, because `sum` holds pointers to its elements.
  std::list<Pulled> summedKeys;
  /// Largest squared norm that was sent for the round, indexed by clip.
  std::vector<double> norms;
  int32_t program = 0;
  /// True if a trainer was requested to stop.
  bool stopRequested = false;
};

} // namespace

Status QuorumMode::checkStep(const Envelope &request, ExchangeMessage message,
                             const ExchangeLayout &layout) {
  if (request.kind == MessageKind::Norm)
    return Status::internal("mode quorum has no requests of norms");
  Sender &sender = senders[request.trainer];
  if (message.head().contributes &&
      sender.pulled.program != layout.programIndex())
    return Status::internal(
        "trainer " + std::to_string(request.trainer) +
        " sends gradients of a step it is not in: this is a "
        "fault of PDL, please report it");
  if (isBegun && layout.programIndex() != program)
    return Status::internal("trainer " + std::to_string(request.trainer) +
                            " trains another program than others do: this is a "
                            "fault of PDL, please report it");
  PDLRT_RETURN_IF_ERROR(
      layout.check(ExchangeForm::Exchange, state.rank(), message,
                   StateServerRows::pushedRows(layout, sender.pulled)));
  sender.incoming = std::make_shared<const ExchangeMessage>(std::move(message));
  return {};
}

/// Adds a trainer's gradients to the sum, and begins the sum if there is none.
/// Each norm becomes the largest one that was sent.
Status QuorumMode::addTo(const ExchangeLayout &layout, Sender &sender) {
  if (!isBegun) {
    sum.begin(state.blocks[layout.programIndex()]);
    norms.assign(state.descriptor.clip_count, 0);
    isBegun = true;
  }
  summed.push_back(sender.incoming);
  summedKeys.push_back(std::exchange(sender.pulled, {}));
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (const auto norm = sender.incoming->sectionOf<double>(c);
        layout.channel(c).kind == PDL_CHANNEL_NORM && !norm.empty()) {
      double &largest = norms[layout.channel(c).clip];
      largest = std::max(largest, norm[0]);
    }
  return sum.add(
      stepRows.partialSumOf(layout, *sender.incoming, summedKeys.back()),
      state.scheduler);
}

std::vector<ObjectiveSums> QuorumMode::ownSums(const ExchangeLayout &layout,
                                               const ExchangeMessage &message) {
  std::vector<ObjectiveSums> sums;
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_LOSS) {
      const auto loss = message.sectionOf<double>(c);
      sums.push_back({loss[0], loss[1]});
    }
  return sums;
}

Status QuorumMode::takeStep(const Envelope &request, Turn turn) {
  const TraceSpan span("push");
  state.stopwatch.lap();
  Sender &sender = senders[request.trainer];
  sender.hasPassed = false;
  const ExchangeLayout &layout = state.layouts[sender.incoming->head().program];
  program = layout.programIndex();
  stopRequested |= sender.incoming->head().stopRequested;
  if (turn == Turn::InRound || turn == Turn::Late)
    PDLRT_RETURN_IF_ERROR(addTo(layout, sender));
  sender.next = {};
  if (sender.incoming->head().hasNextBatch) {
    sender.next.program = program;
    sender.next.message = sender.incoming;
    PDLRT_RETURN_IF_ERROR(stepRows.insert({&sender.next}));
  }
  state.metrics.late += turn == Turn::Late;
  state.metrics.dropped += turn == Turn::Dropped;
  state.metrics.sum += state.stopwatch.lap();
  return {};
}

Status QuorumMode::closeStep(MessageKind) {
  if (!isBegun)
    return Status::internal("a round of no gradients is closed");
  state.stopwatch.lap();
  Expected<PartialSum> merged = state.closeSum(sum, program);
  if (!merged)
    return merged.status();
  state.metrics.sum += state.stopwatch.lap();
  if (merged->present && merged->hasWeight()) {
    const TraceSpan span("apply");
    Updater &updater = *state.updaters[program];
    updater.makeRoom();
    PDLRT_RETURN_IF_ERROR(updater.finish(*merged, norms));
    // In these tables, a server keeps no pointers to rows. So their rows are
    // released now, even if a sender waits for samples.
    state.model.quiesce(Model::QuiescentTables::WithRowsOfUpdates);
    // If the rule updates all rows, it has also changed rows that open requests
    // have created for later steps. Sets these rows to their initial values.
    for (const Sender &sender : senders)
      if (sender.incoming)
        stepRows.renew(sender.next);
  }
  isBegun = false;
  summed.clear();
  summedKeys.clear();
  for (Sender &sender : senders)
    if (sender.mustPass)
      pass(sender);
  state.metrics.steps += merged->present;
  state.metrics.apply += state.stopwatch.lap();
  return {};
}

Expected<std::vector<Message>>
QuorumMode::respondToSteps(std::span<const Envelope> requests) {
  std::vector<StepOutcome> outcomes(requests.size());
  std::vector<StateFor> to;
  for (size_t i = 0; i < requests.size(); ++i) {
    Sender &sender = senders[requests[i].trainer];
    const ExchangeHead &head = sender.incoming->head();
    // A response has the sums of the trainer's own request and not of the
    // round, because servers may have put the request into different rounds.
    if (head.contributes)
      outcomes[i].sums = ownSums(state.layouts[head.program], *sender.incoming);
    // True in any case, because other trainers have changed the state since its
    // last response.
    outcomes[i].applied = true;
    outcomes[i].stop = stopRequested;
    outcomes[i].contributors = head.hasNextBatch ? 1 : 0;
    to.push_back({&sender.next, head.allValues, &outcomes[i]});
  }
  std::vector<Message> responses =
      stepResponses.stateResponses(state.layouts[program], to);
  for (const Envelope &request : requests) {
    Sender &sender = senders[request.trainer];
    sender.pulled = std::exchange(sender.next, {});
    sender.incoming.reset();
    // If a sum has begun, it refers to rows of this sender's gradients, so the
    // sender may pass only after the round.
    sender.mustPass = isBegun;
    if (!isBegun && !sender.hasPassed)
      pass(sender);
  }
  return responses;
}

/// Records that the trainer no longer uses the rows of earlier responses than
/// the last one.
void QuorumMode::pass(Sender &sender) {
  sender.mustPass = false;
  sender.hasPassed = true;
  points.pass(sender.number, /*rests=*/sender.pulled.program < 0,
              [&] { state.model.quiesce(); });
}

std::unique_ptr<StepMode> pdlrt::createQuorumMode(const ModeSetup &setup) {
  return std::make_unique<QuorumMode>(setup);
}
