//===- SyncServer.cpp - Sums over all trainers, then applies --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step is one round of Exchange requests, or, where a clip needs the norm of
// the whole gradient, one of Exchange and one of Norm requests. The last round
// of a step carries the keys of the next one. What can fail comes before state
// is written: sums, the search for what is not finite, new rows. As much of it
// as can be is done while others are waited for.
//
//===----------------------------------------------------------------------===//

#include "Server/Modes.h"

#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {

class SyncServer final : public StateServer {
public:
  explicit SyncServer(const ServerSetup &setup)
      : StateServer(setup), incoming(trainers()), pushed(trainers()),
        pulled(trainers()), next(trainers()) {}

  const RoundPolicy &roundPolicy() const override { return roundsOfSteps(); }

protected:
  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind kind) override;
  Expected<std::vector<Message>>
  answerSteps(std::span<const Envelope> requests) override;
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
  Message answerSums(const ExchangeLayout &layout);
  Status finishStep(const ExchangeLayout &layout);

  /// By trainer: its request of the current round; the one with the gradients
  /// of the step that is not applied yet; the keys of its last request.
  std::vector<std::shared_ptr<const ExchangeMessage>> incoming, pushed;
  std::vector<Pulled> pulled;
  /// The keys of the next step, of trainers that have contributed.
  std::vector<Pulled> next;
  /// Of those that have contributed to the current round.
  RunningSum sum;
  /// The sum that is applied next, and what answers say of it then.
  Contribution merged;
  StepOutcome outcome;
  /// Sums were answered, and their norms are due.
  bool normsAreDue = false;
  /// Somebody was asked to stop, in a request of this step.
  bool stop = false;
  /// Somebody wants a checkpoint after this step.
  bool save = false;
};

} // namespace

static Status outOfStep(const Envelope &request, const std::string &what) {
  return Status::invalid("trainer " + std::to_string(request.trainer) + " " +
                         what + ": this is a fault of PDL, please report it");
}

Status SyncServer::checkNorms(const Envelope &request,
                              const ExchangeMessage &message,
                              const ExchangeLayout &layout) {
  if (message.head().contributes != merged.present)
    return outOfStep(request, merged.present
                                  ? "sends no norms, although they are due"
                                  : "sends norms that nobody asked for");
  for (uint32_t other = 0; other < trainers(); ++other) {
    if (other == request.trainer || !incoming[other])
      continue;
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const auto mine = message.section(c),
                 theirs = incoming[other]->section(c);
      if (layout.channel(c).kind == PDL_CHANNEL_NORM &&
          !std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end()))
        return Status::invalid(
            "trainers " + std::to_string(other) + " and " +
            std::to_string(request.trainer) +
            " computed different norms of one gradient; are their machines "
            "of one kind, and their programs of one translation?");
    }
  }
  return {};
}

Status SyncServer::checkStep(const Envelope &request, ExchangeMessage message,
                             const ExchangeLayout &layout) {
  const uint32_t trainer = request.trainer;
  const bool isNorm = request.kind == MessageKind::Norm;
  for (uint32_t other = 0; other < trainers(); ++other) {
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
  if (!isNorm && normsAreDue)
    return outOfStep(request, "sends gradients while norms are due");
  if (!isNorm && message.head().contributes &&
      pulled[trainer].program != layout.programIndex())
    return outOfStep(request, "sends gradients of a step it is not in");
  PDLRT_RETURN_IF_ERROR(
      layout.check(isNorm ? ExchangeForm::Norm : ExchangeForm::Exchange, rank(),
                   message, pushedRows(layout, pulled[trainer])));
  if (isNorm)
    PDLRT_RETURN_IF_ERROR(checkNorms(request, message, layout));
  incoming[trainer] =
      std::make_shared<const ExchangeMessage>(std::move(message));
  return {};
}

/// Adds what a trainer gives to the sum, and makes room for the keys that it
/// asks for; trainers come in the order of their ranks.
Status SyncServer::takeStep(const Envelope &request, Turn turn) {
  (void)turn; // All requests are of the round.
  const TraceSpan span("take up");
  stopwatch.lap();
  const uint32_t trainer = request.trainer;
  const ExchangeMessage &message = *incoming[trainer];
  const ExchangeLayout &layout = layouts[message.head().program];
  if (request.kind == MessageKind::Exchange) {
    if (trainer == 0)
      sum.begin(blocks[layout.programIndex()]);
    PDLRT_RETURN_IF_ERROR(
        sum.add(contributionOf(layout, message, pulled[trainer]), scheduler));
    ownCosts.sum += stopwatch.lap();
    if (layout.hasNormRequest())
      return {};
  }
  // Nobody reads rows before all trainers are here, so these may be there
  // already. Trainer 0 begins a save before its turn, which is the first; a
  // save that goes on leaves them out.
  if (message.head().contributesNext) {
    next[trainer].program = layout.programIndex();
    next[trainer].message = incoming[trainer];
    PDLRT_RETURN_IF_ERROR(insertKeys({&next[trainer]}));
    ownCosts.apply += stopwatch.lap();
  }
  return {};
}

/// Ends the sum of this step.
Status SyncServer::endSum(const ExchangeLayout &layout) {
  Expected<Contribution> ended = closeSum(sum, layout.programIndex());
  if (!ended)
    return ended.status();
  merged = std::move(*ended);
  ownCosts.sum += stopwatch.lap();
  return {};
}

Message SyncServer::answerSums(const ExchangeLayout &layout) {
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
    // Without weight nothing will be applied, whatever the norm; who has the
    // gradients of parameters forms theirs.
    const bool isElsewhere =
        pushed[0]->head().withoutParameters &&
        descriptor.symbols[channel.symbol].kind != PDL_SYMBOL_TABLE;
    std::vector<double> partials(layout.sectionBytes(rank(), c) /
                                 sizeof(double));
    if (isApplied && !isElsewhere && !partials.empty()) {
      const std::vector<double> &all =
          updaters[layout.programIndex()]->partialNorms(
              updateOf(layout, channel.symbol), merged);
      if (descriptor.symbols[channel.symbol].kind == PDL_SYMBOL_TABLE) {
        const auto &shards = placement.unitsOf(channel.symbol, rank());
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
Status SyncServer::finishStep(const ExchangeLayout &layout) {
  std::vector<double> norms(descriptor.clip_count);
  outcome = {};
  outcome.setSums(merged);
  outcome.applied = merged.present && merged.hasWeight();
  outcome.stop = stop;
  outcome.save = save;
  for (uint32_t t = 0; t < trainers(); ++t) {
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (const auto norm = incoming[t]->sectionOf<double>(c);
          layout.channel(c).kind == PDL_CHANNEL_NORM && !norm.empty())
        norms[layout.channel(c).clip] = norm[0];
    outcome.contributors += incoming[t]->head().contributesNext;
  }
  if (outcome.applied) {
    const TraceSpan span("apply");
    Updater &updater = *updaters[layout.programIndex()];
    updater.makeRoom();
    PDLRT_RETURN_IF_ERROR(updater.finish(merged, norms));
    ownModel.quiesce();
    for (const Pulled &each : next)
      renewRows(each);
  }
  ownCosts.steps += merged.present;
  ownCosts.apply += stopwatch.lap();
  return {};
}

Status SyncServer::closeStep(MessageKind kind) {
  const ExchangeLayout &layout = layouts[incoming[0]->head().program];
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
  normsAreDue = true;
  return {};
}

Expected<std::vector<Message>>
SyncServer::answerSteps(std::span<const Envelope> requests) {
  const ExchangeLayout &layout = layouts[incoming[0]->head().program];
  if (normsAreDue && requests.front().kind == MessageKind::Exchange) {
    incoming.assign(trainers(), nullptr);
    return std::vector<Message>(requests.size(), answerSums(layout));
  }
  std::vector<StateFor> to;
  for (const Envelope &request : requests) {
    const ExchangeHead &head = incoming[request.trainer]->head();
    to.push_back({&next[request.trainer], head.allValues, &outcome,
                  /*seen=*/nullptr, head.withoutParameters});
  }
  std::vector<Message> answers = answerState(layout, to);
  // Keys of the next step take the place of this one's.
  merged = {};
  stop = save = normsAreDue = false;
  for (uint32_t t = 0; t < trainers(); ++t) {
    incoming[t].reset();
    pushed[t].reset();
    pulled[t] = std::exchange(next[t], {});
  }
  return answers;
}

std::unique_ptr<StateServer> pdlrt::createSyncServer(const ServerSetup &setup) {
  return std::make_unique<SyncServer>(setup);
}
