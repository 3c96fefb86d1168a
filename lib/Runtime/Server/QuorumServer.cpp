//===- QuorumServer.cpp - Rounds that do not wait for the slowest ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode quorum: the gradients of those trainers that came first are summed and
// applied; what comes later counts in the next round, or not at all, as the
// policy says (RoundPolicy.h). Gradients whose senders are answered before the
// round is closed are added when they come, the others behind them in the order
// of ranks: with a quorum of all the bits are those of mode sync.
//
//===----------------------------------------------------------------------===//

#include "Server/Modes.h"

#include "pdlrt/Core/Trace.h"
#include "pdlrt/Table/QuiescentPoints.h"

#include <algorithm>
#include <list>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {

class QuorumServer final : public StateServer {
public:
  explicit QuorumServer(const ServerSetup &setup)
      : StateServer(setup),
        policy(createQuorum(setup.bounds.quorum.value_or(trainers()),
                            setup.bounds.late)),
        senders(trainers()) {
    for (Sender &sender : senders)
      sender.number = points.add();
  }

  const RoundPolicy &roundPolicy() const override { return *policy; }

protected:
  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind kind) override;
  Expected<std::vector<Message>>
  answerSteps(std::span<const Envelope> requests) override;
  std::vector<const Pulled *> pendingKeys() const override {
    std::vector<const Pulled *> all;
    for (const Sender &sender : senders)
      all.insert(all.end(), {&sender.pulled, &sender.next});
    for (const Pulled &each : summedKeys)
      all.push_back(&each);
    return all;
  }

private:
  /// One trainer.
  struct Sender {
    /// The keys of its last request but one: those of the gradients that its
    /// last one brings.
    Pulled pulled;
    /// Its last request, and the keys that it asks for.
    std::shared_ptr<const ExchangeMessage> incoming;
    Pulled next;
    /// Its number among `points`. Of one round it passes once: what its last
    /// request asks for was found before the round's end, and is used behind
    /// it.
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
  /// Gradients were added to `sum` since the last round; it borrows what
  /// follows.
  bool isBegun = false;
  RunningSum sum;
  std::vector<std::shared_ptr<const ExchangeMessage>> summed;
  /// In a list, since `sum` points into them.
  std::list<Pulled> summedKeys;
  /// The squared norms of clips: the largest that was sent.
  std::vector<double> norms;
  int32_t program = 0;
  /// Some trainer was asked to stop.
  bool stopRequested = false;
};

} // namespace

Status QuorumServer::checkStep(const Envelope &request, ExchangeMessage message,
                               const ExchangeLayout &layout) {
  if (request.kind == MessageKind::Norm)
    return Status::invalid("mode quorum has no requests of norms");
  Sender &sender = senders[request.trainer];
  if (message.head().contributes &&
      sender.pulled.program != layout.programIndex())
    return Status::invalid("trainer " + std::to_string(request.trainer) +
                           " sends gradients of a step it is not in: this is a "
                           "fault of PDL, please report it");
  if (isBegun && layout.programIndex() != program)
    return Status::invalid("trainer " + std::to_string(request.trainer) +
                           " trains another program than others do: this is a "
                           "fault of PDL, please report it");
  PDLRT_RETURN_IF_ERROR(layout.check(ExchangeForm::Exchange, rank(), message,
                                     pushedRows(layout, sender.pulled)));
  sender.incoming = std::make_shared<const ExchangeMessage>(std::move(message));
  return {};
}

/// Adds what a trainer gives to the sum.
Status QuorumServer::addTo(const ExchangeLayout &layout, Sender &sender) {
  if (!isBegun) {
    sum.begin(blocks[layout.programIndex()]);
    norms.assign(descriptor.clip_count, 0);
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
  return sum.add(contributionOf(layout, *sender.incoming, summedKeys.back()),
                 scheduler);
}

std::vector<ObjectiveSums>
QuorumServer::ownSums(const ExchangeLayout &layout,
                      const ExchangeMessage &message) {
  std::vector<ObjectiveSums> sums;
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_LOSS) {
      const auto loss = message.sectionOf<double>(c);
      sums.push_back({loss[0], loss[1]});
    }
  return sums;
}

Status QuorumServer::takeStep(const Envelope &request, Turn turn) {
  const TraceSpan span("take up");
  stopwatch.lap();
  Sender &sender = senders[request.trainer];
  sender.hasPassed = false;
  const ExchangeLayout &layout = layouts[sender.incoming->head().program];
  program = layout.programIndex();
  stopRequested |= sender.incoming->head().stopRequested;
  if (turn == Turn::InRound || turn == Turn::Late)
    PDLRT_RETURN_IF_ERROR(addTo(layout, sender));
  sender.next = {};
  if (sender.incoming->head().contributesNext) {
    sender.next.program = program;
    sender.next.message = sender.incoming;
    PDLRT_RETURN_IF_ERROR(insertKeys({&sender.next}));
  }
  ownCosts.late += turn == Turn::Late;
  ownCosts.dropped += turn == Turn::Dropped;
  ownCosts.sum += stopwatch.lap();
  return {};
}

Status QuorumServer::closeStep(MessageKind) {
  if (!isBegun)
    return Status::internal("a round of no gradients is closed");
  stopwatch.lap();
  Expected<Contribution> merged = closeSum(sum, program);
  if (!merged)
    return merged.status();
  ownCosts.sum += stopwatch.lap();
  if (merged->present && merged->hasWeight()) {
    const TraceSpan span("apply");
    Updater &updater = *updaters[program];
    updater.makeRoom();
    PDLRT_RETURN_IF_ERROR(updater.finish(*merged, norms));
    // Whoever waits for samples holds none of their rows up.
    ownModel.quiesce(Model::QuiescentTables::WithRowsOfUpdates);
    // Rows that were made for a step behind this round.
    for (const Sender &sender : senders)
      if (sender.incoming)
        renewRows(sender.next);
  }
  isBegun = false;
  summed.clear();
  summedKeys.clear();
  for (Sender &sender : senders)
    if (sender.mustPass)
      pass(sender);
  ownCosts.steps += merged->present;
  ownCosts.apply += stopwatch.lap();
  return {};
}

Expected<std::vector<Message>>
QuorumServer::answerSteps(std::span<const Envelope> requests) {
  std::vector<StepOutcome> outcomes(requests.size());
  std::vector<StateFor> to;
  for (size_t i = 0; i < requests.size(); ++i) {
    Sender &sender = senders[requests[i].trainer];
    const ExchangeHead &head = sender.incoming->head();
    // Sums are its own: rounds differ from server to server.
    if (head.contributes)
      outcomes[i].sums = ownSums(layouts[head.program], *sender.incoming);
    // Others have changed the state since its last answer.
    outcomes[i].applied = true;
    outcomes[i].stop = stopRequested;
    outcomes[i].contributors = head.contributesNext ? 1 : 0;
    to.push_back({&sender.next, head.allValues, &outcomes[i]});
  }
  std::vector<Message> answers = answerState(layouts[program], to);
  for (const Envelope &request : requests) {
    Sender &sender = senders[request.trainer];
    sender.pulled = std::exchange(sender.next, {});
    sender.incoming.reset();
    // The sum holds rows of its gradients.
    sender.mustPass = isBegun;
    if (!isBegun && !sender.hasPassed)
      pass(sender);
  }
  return answers;
}

/// It holds no row any more of those that it was answered before the last.
void QuorumServer::pass(Sender &sender) {
  sender.mustPass = false;
  sender.hasPassed = true;
  points.pass(sender.number, /*rests=*/sender.pulled.program < 0,
              [&] { ownModel.quiesce(); });
}

std::unique_ptr<StateServer>
pdlrt::createQuorumServer(const ServerSetup &setup) {
  return std::make_unique<QuorumServer>(setup);
}
