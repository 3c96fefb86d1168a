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
#include "pdlrt/Protocol/WorkerNumbers.h"
#include "pdlrt/Table/QuiescentPoints.h"

#include <algorithm>
#include <deque>
#include <map>
#include <new>
#include <string>
#include <utility>

using namespace pdlrt;

namespace {

class AsyncServer final : public StateServer {
public:
  explicit AsyncServer(const ServerSetup &setup)
      : StateServer(setup),
        ownPolicy(setup.bounds.staleness
                      ? createBoundedStaleness(*setup.bounds.staleness)
                      : nullptr),
        compensates(std::any_of(
            descriptor.symbols, descriptor.symbols + descriptor.symbol_count,
            [](const pdl_symbol &symbol) {
              return symbol.late_dense_kernel || symbol.late_row_kernel;
            })) {}

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
  std::vector<const Pulled *> pendingKeys() const override {
    std::vector<const Pulled *> all;
    for (const auto &[who, sender] : senders)
      all.push_back(&sender.pulled);
    return all;
  }

private:
  struct Sender;
  Status takeUp(const Envelope &request, Pulled &pulled,
                const ExchangeLayout &layout);
  Sender *stepsOf(const Envelope &request, bool ownKeys);
  Status addSeen(const Envelope &request, const ExchangeLayout &layout,
                 Contribution &contribution);
  Status findSeenRows(const ExchangeLayout &layout, int32_t keysChannel,
                      const BlockGradient &block,
                      std::vector<const void *> &rows) const;
  void forgetSeen();
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
    /// Of groups that compensate delays: what it has seen for each step whose
    /// gradients have not come yet, the first of them first.
    std::deque<Seen> seen = {};
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
  /// Of the request that was checked last: whose steps its gradients are of;
  /// which of what that one has seen are of these steps; and by update, the
  /// values of the rows that the request brings gradients of.
  Sender *computing = nullptr;
  size_t firstSeen = 0, lastSeen = 0;
  std::vector<std::vector<const void *>> seenRows;
  /// All that is kept of what senders have seen.
  int64_t seenBytes = 0;
  const bool compensates;
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
             : senders.emplace(name, Sender{{}, points.add()}).first->second;
}

//===----------------------------------------------------------------------===//
// What senders have seen
//===----------------------------------------------------------------------===//

/// Who was answered the values that the gradients of a request were computed
/// on: its sender, or for pushes beside steps that of these steps.
AsyncServer::Sender *AsyncServer::stepsOf(const Envelope &request,
                                          bool ownKeys) {
  if (!ownKeys)
    return &senderOf(request);
  const auto workers = uint32_t(handshake().workers);
  if (request.worker < senderOfPushes(workers, 0))
    return nullptr;
  const auto found =
      senders.find({request.trainer, stepsOfPushes(workers, request.worker)});
  return found == senders.end() ? nullptr : &found->second;
}

/// The value of each row of a push: that of the last of its steps which asked
/// for the key. Keys come in one order, here and there.
Status AsyncServer::findSeenRows(const ExchangeLayout &layout,
                                 int32_t keysChannel,
                                 const BlockGradient &block,
                                 std::vector<const void *> &rows) const {
  const auto count = size_t(block.keyCount);
  rows.assign(count, nullptr);
  const EmbeddingTable &table =
      *ownModel.table(layout.channel(keysChannel).symbol);
  const size_t bytes = table.valueBytes();
  const auto before = [](int64_t a, int64_t b) {
    return std::pair(EmbeddingTable::shardOf(a), a) <
           std::pair(EmbeddingTable::shardOf(b), b);
  };
  for (size_t step = firstSeen; step < lastSeen; ++step) {
    const Seen &seen = computing->seen[step];
    const auto keys = seen.message->sectionOf<int64_t>(keysChannel);
    const std::byte *values = seen.rows[keysChannel].get();
    for (size_t i = 0, at = 0; i < count && at < keys.size();) {
      if (keys[at] == block.keys[i])
        rows[i++] = values + at++ * bytes;
      else if (before(keys[at], block.keys[i]))
        ++at;
      else
        ++i;
    }
  }
  if (std::find(rows.begin(), rows.end(), nullptr) != rows.end())
    return Status::invalid("a push brings a gradient of a row that none of its "
                           "steps has asked for: this is a fault of PDL, "
                           "please report it");
  return {};
}

/// Adds to the gradients of the request what they were computed on.
Status AsyncServer::addSeen(const Envelope &request,
                            const ExchangeLayout &layout,
                            Contribution &contribution) {
  const ExchangeHead &head = incoming->head();
  computing = nullptr;
  firstSeen = lastSeen = 0;
  if (!compensates)
    return {};
  computing = stepsOf(request, head.ownKeys);
  if (!head.contributes)
    return {};
  const size_t steps = head.ownKeys ? head.steps : 1;
  const size_t known = computing ? computing->seen.size() : 0;
  if (steps == 0 || known < steps)
    return Status::invalid(
        "trainer " + std::to_string(request.trainer) +
        " sends gradients of more steps than it has asked for: this is a fault "
        "of PDL, please report it");
  // Pushes beside steps come in their order; else the gradients are those of
  // the last answer.
  firstSeen = head.ownKeys ? 0 : known - 1;
  lastSeen = firstSeen + steps;
  const Seen &last = computing->seen[lastSeen - 1];
  const pdl_program &program = layout.program();
  seenRows.resize(size_t(program.update_count));
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    if (channel.kind != PDL_CHANNEL_GRADIENT &&
        channel.kind != PDL_CHANNEL_ROW_GRADIENT)
      continue;
    const pdl_symbol &symbol = descriptor.symbols[channel.symbol];
    const int32_t update = updateOf(layout, channel.symbol);
    BlockGradient &block = contribution.blocks[update];
    if (symbol.late_dense_kernel) {
      block.seen = last.values[channel.symbol].get();
      if (!block.seen && layout.sectionBytes(rank(), c) > 0)
        return Status::invalid(std::string("@") + symbol.name +
                               " has a gradient, and was never sent: this is a "
                               "fault of PDL, please report it");
    }
    if (!symbol.late_row_kernel)
      continue;
    PDLRT_RETURN_IF_ERROR(
        findSeenRows(layout, layout.keysOf(c), block, seenRows[update]));
    block.seenRows = seenRows[update].data();
  }
  return {};
}

/// Lets go what the gradients that were just applied were computed on; and what
/// was seen for steps that nobody took, where a sender begins anew.
void AsyncServer::forgetSeen() {
  if (!computing)
    return;
  const ExchangeHead &head = incoming->head();
  size_t count = lastSeen;
  if (!head.ownKeys && (head.contributes || head.allValues))
    count = computing->seen.size();
  for (; count > 0; --count) {
    seenBytes -= computing->seen.front().bytes;
    computing->seen.pop_front();
  }
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// What may fail: the gradients, then room for the next keys.
Status AsyncServer::takeUp(const Envelope &request, Pulled &pulled,
                           const ExchangeLayout &layout) {
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
  Contribution contribution =
      contributionOf(layout, *incoming, ownKeys ? pushed : pulled);
  PDLRT_RETURN_IF_ERROR(addSeen(request, layout, contribution));
  PDLRT_RETURN_IF_ERROR(sum.add(contribution, scheduler));
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
    return takeUp(request, pulled, layout);
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
    // Whoever waits for samples holds none of their rows up.
    ownModel.quiesce(Model::QuiescentTables::WithRowsOfUpdates);
  }
  renewRows(next);
  forgetSeen();
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
    if (!compensates || sender.pulled.program < 0)
      continue;
    to.back().seen = &sender.seen.emplace_back(
        Seen{sender.pulled.message,
             std::vector<std::shared_ptr<std::byte>>(
                 size_t(layouts[lastProgram].channelCount())),
             Snapshot(size_t(descriptor.symbol_count))});
  }
  std::vector<Message> answers = answerState(layouts[lastProgram], to);
  for (const StateFor &each : to)
    seenBytes += each.seen ? each.seen->bytes : 0;
  ownCosts.seenBytes = std::max(ownCosts.seenBytes, seenBytes);
  return answers;
}

std::unique_ptr<StateServer>
pdlrt::createAsyncServer(const ServerSetup &setup) {
  return std::make_unique<AsyncServer>(setup);
}
