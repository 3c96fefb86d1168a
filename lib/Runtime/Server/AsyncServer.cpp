//===- AsyncServer.cpp - Applies each push by itself ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modes async and half-async: each Exchange is a step of its own, with its own
// weight, and its answer has the state after it. What can fail is done while a
// request is checked; it is taken right after that. With bounded staleness its
// answer may come later, and has the state of that moment.
//
//===----------------------------------------------------------------------===//

#include "Server/Modes.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Table/QuiescentPoints.h"

#include <algorithm>
#include <map>
#include <new>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {

class AsyncServer final : public StateServer {
public:
  using StateServer::prepare;
  explicit AsyncServer(const ServerSetup &setup)
      : StateServer(setup),
        ownPolicy(setup.bounds.staleness
                      ? createBoundedStaleness(*setup.bounds.staleness)
                      : nullptr) {}

  const RoundPolicy &roundPolicy() const override {
    return ownPolicy ? *ownPolicy : roundsOfSums();
  }

protected:
  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind) override {
    return Status::internal("pushes that are applied as they come form no "
                            "rounds of steps");
  }
  Expected<std::vector<Message>>
  answerSteps(std::span<const Envelope> requests) override;

private:
  Status takeUp(Pulled &pulled, const ExchangeLayout &layout);
  std::vector<double> normsOf(const ExchangeLayout &layout) const;

  const std::unique_ptr<RoundPolicy> ownPolicy;
  struct Sender {
    /// The keys of its last request.
    Pulled pulled;
    /// Its number among `points`.
    size_t number;
    /// Of its last request.
    bool allValues = false;
    StepOutcome outcome = {};
  };
  Sender &senderOf(const Envelope &request);

  /// By (trainer, worker).
  std::map<std::pair<uint32_t, uint32_t>, Sender> senders;
  QuiescentPoints points;
  /// The request that was checked last, and what it gives.
  std::shared_ptr<const ExchangeMessage> incoming;
  Pulled next;
  /// Of a request with keys of its own: these.
  Pulled pushed;
  RunningSum sum;
  Contribution part;
  /// The program that is trained, one in a pass.
  int32_t lastProgram = 0;
  /// Some trainer was asked to stop.
  bool stopRequested = false;
};

} // namespace

AsyncServer::Sender &AsyncServer::senderOf(const Envelope &request) {
  const std::pair name(request.trainer, request.worker);
  const auto known = senders.find(name);
  return known != senders.end()
             ? known->second
             : senders.emplace(name, Sender{{}, points.add(), false, {}})
                   .first->second;
}

/// What may fail: the gradients, then room for the next keys.
Status AsyncServer::takeUp(Pulled &pulled, const ExchangeLayout &layout) {
  const TraceSpan span("take up");
  const int32_t program = layout.programIndex();
  const bool ownKeys = incoming->head().ownKeys;
  pushed = {};
  if (ownKeys) {
    pushed.program = program;
    pushed.message = incoming;
    PDLRT_RETURN_IF_ERROR(insertKeys({&pushed}));
  }
  sum.begin(blocks[program]);
  PDLRT_RETURN_IF_ERROR(sum.add(
      contributionOf(layout, *incoming, ownKeys ? pushed : pulled), scheduler));
  Expected<Contribution> ended = closeSum(sum, program);
  if (!ended)
    return ended.status();
  part = std::move(*ended);
  next = {};
  if (incoming->head().contributesNext) {
    next.program = program;
    next.message = incoming;
  }
  PDLRT_RETURN_IF_ERROR(insertKeys({&next}));
  if (updaters[program])
    updaters[program]->makeRoom();
  return {};
}

Status AsyncServer::checkStep(const Envelope &request, ExchangeMessage message,
                              const ExchangeLayout &layout) {
  if (request.kind == MessageKind::Norm)
    return Status::invalid("a server that applies pushes as they come takes no "
                           "norms by themselves");
  Pulled &pulled = senderOf(request).pulled;
  const bool ownKeys = message.head().ownKeys;
  if (ownKeys && ownPolicy)
    return Status::invalid(
        "trainer " + std::to_string(request.trainer) +
        " pushes beside its steps (--push-queue), but this server was started "
        "with --max-staleness, which holds steps back by their answers: leave "
        "one of the two out");
  if (message.head().contributes && !ownKeys &&
      pulled.program != layout.programIndex())
    return Status::invalid(
        "worker " + std::to_string(request.worker) + " of trainer " +
        std::to_string(request.trainer) +
        " sends gradients of a step it is not in: this is a fault of PDL, "
        "please report it");
  PDLRT_RETURN_IF_ERROR(layout.check(ExchangeForm::Exchange, rank(), message,
                                     ownKeys ? pushedRows(layout, message)
                                             : pushedRows(layout, pulled)));
  incoming = std::make_shared<const ExchangeMessage>(std::move(message));
  try {
    return takeUp(pulled, layout);
  } catch (const std::bad_alloc &error) {
    return outOfMemory(error, "took up what trainer " +
                                  std::to_string(request.trainer) + " sent");
  }
}

/// By clip, of what the request brings. Senders divide by the weight of all
/// samples; where the groups of a clip merge steps by sum, their gradient is as
/// many times as large as there are steps.
std::vector<double> AsyncServer::normsOf(const ExchangeLayout &layout) const {
  std::vector<double> norms(descriptor.clip_count);
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const auto norm = incoming->sectionOf<double>(c);
    if (layout.channel(c).kind != PDL_CHANNEL_NORM || norm.empty())
      continue;
    const int32_t clip = layout.channel(c).clip;
    norms[clip] = norm[0];
    const auto *end = descriptor.groups + descriptor.group_count;
    if (std::any_of(descriptor.groups, end, [clip](const pdl_group &group) {
          return group.clip == clip && group.merge == PDL_MERGE_SUM;
        }))
      norms[clip] *= double(part.steps) * double(part.steps);
  }
  return norms;
}

Status AsyncServer::takeStep(const Envelope &request, Turn turn) {
  (void)turn; // All come by themselves.
  const ExchangeLayout &layout = layouts[incoming->head().program];
  const std::vector<double> norms = normsOf(layout);
  // A push beside steps is answered in a few bytes: what is read is pulled.
  const bool ownKeys = incoming->head().ownKeys;
  if (part.present && part.hasWeight()) {
    const TraceSpan span("apply");
    PDLRT_RETURN_IF_ERROR(updaters[layout.programIndex()]->finish(part, norms));
  }
  renewRows(next);
  ownCosts.steps += part.present;
  ownCosts.mergedSteps += part.present ? part.steps - 1 : 0;
  ownCosts.apply += stopwatch.lap();
  stopRequested |= incoming->head().stopRequested;
  Sender &sender = senderOf(request);
  sender.allValues = incoming->head().allValues;
  sender.outcome = {};
  if (!ownKeys)
    sender.outcome.setSums(part);
  // Others have changed the state since this sender's last answer.
  sender.outcome.applied = !ownKeys;
  sender.outcome.contributors = incoming->head().contributesNext ? 1 : 0;
  sender.pulled = std::exchange(next, {});
  points.pass(sender.number, /*rests=*/sender.pulled.program < 0,
              [&] { ownModel.quiesce(); });
  lastProgram = layout.programIndex();
  incoming.reset();
  return {};
}

Expected<std::vector<Message>>
AsyncServer::answerSteps(std::span<const Envelope> requests) {
  std::vector<StateFor> to;
  for (const Envelope &request : requests) {
    Sender &sender = senderOf(request);
    // All are told with their next answers, whoever was asked to stop.
    sender.outcome.stop = stopRequested;
    to.push_back({&sender.pulled, sender.allValues, &sender.outcome});
  }
  return answerState(layouts[lastProgram], to);
}

Expected<std::unique_ptr<StateServer>>
pdlrt::createAsyncServer(const ServerSetup &setup) {
  auto server = std::make_unique<AsyncServer>(setup);
  PDLRT_RETURN_IF_ERROR(server->prepare());
  return std::unique_ptr<StateServer>(std::move(server));
}
