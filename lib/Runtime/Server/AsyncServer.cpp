//===- AsyncServer.cpp - Applies each push by itself ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modes async and half-async: each Exchange is a step of its own, with its own
// weight. Its response contains the state after this step. Everything that can
// fail is done while a request is checked, and the request is taken right after
// the check. With bounded staleness, the response may be sent later; it then
// contains the state of that later moment.
//
//===----------------------------------------------------------------------===//

#include "Server/StepMode.h"

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

class AsyncMode final : public StepMode {
public:
  explicit AsyncMode(const ModeSetup &setup)
      : StepMode(setup),
        ownPolicy(setup.bounds.staleness
                      ? createBoundedStaleness(*setup.bounds.staleness)
                      : nullptr),
        compensates(std::any_of(
            state.descriptor.symbols,
            state.descriptor.symbols + state.descriptor.symbol_count,
            [](const pdl_symbol &symbol) {
              return symbol.late_dense_kernel || symbol.late_row_kernel;
            })) {}

  const RoundPolicy &roundPolicy() const override {
    return ownPolicy ? *ownPolicy : roundsOfSums();
  }

  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind) override {
    return Status::internal("pushes that are applied as they come form no "
                            "rounds of steps");
  }
  Expected<std::vector<Message>>
  respondToSteps(std::span<const Envelope> requests) override;
  std::vector<const Pulled *> pendingKeys() const override {
    std::vector<const Pulled *> all;
    for (const auto &[who, sender] : senders)
      all.push_back(&sender.pulled);
    return all;
  }

private:
  struct Sender;
  Status addPush(const Envelope &request, Pulled &pulled,
                 const ExchangeLayout &layout);
  Sender *stepsOf(const Envelope &request, bool ownKeys);
  Status addSeen(const Envelope &request, const ExchangeLayout &layout,
                 PartialSum &contribution);
  Status findSeenRows(const ExchangeLayout &layout, int32_t keysChannel,
                      const BlockGradient &block,
                      std::vector<const void *> &rows) const;
  void forgetSeen();
  std::vector<double> normsOf(const ExchangeLayout &layout) const;

  const std::unique_ptr<RoundPolicy> ownPolicy;
  struct Sender {
    /// Keys of the sender's last request.
    Pulled pulled;
    /// Index in `points`.
    size_t number;
    /// `ExchangeHead::allValues` of the sender's last request.
    bool allValues = false;
    StepOutcome outcome = {};
    /// The values that this sender has read in each step whose gradients have
    /// not arrived yet, oldest step first. Used only for groups with delay
    /// compensation.
    std::deque<Seen> seen = {};
  };
  Sender &senderOf(const Envelope &request);

  /// Indexed by (trainer, worker).
  std::map<std::pair<uint32_t, uint32_t>, Sender> senders;
  QuiescentPoints points;
  /// `incoming`: the last checked request. `next`: the keys whose rows it
  /// requests.
  std::shared_ptr<const ExchangeMessage> incoming;
  Pulled next;
  /// Keys to which the gradients of the last checked request belong, if the
  /// request contains them.
  Pulled pushed;
  RunningSum sum;
  PartialSum part;
  /// `computing`: the sender that has computed the gradients of the last
  /// checked request. [`firstSeen`, `lastSeen`): the entries of its `seen` that
  /// belong to these gradients. `seenRows`: for each update, the values that
  /// were read of the rows that have gradients.
  Sender *computing = nullptr;
  size_t firstSeen = 0, lastSeen = 0;
  std::vector<std::vector<const void *>> seenRows;
  /// Total size of all values in `seen`.
  int64_t seenBytes = 0;
  const bool compensates;
  /// Program that is trained. It does not change during a pass.
  int32_t lastProgram = 0;
  /// True if a trainer was requested to stop.
  bool stopRequested = false;
};

} // namespace

AsyncMode::Sender &AsyncMode::senderOf(const Envelope &request) {
  const std::pair name(request.trainer, request.worker);
  const auto known = senders.find(name);
  return known != senders.end()
             ? known->second
             : senders.emplace(name, Sender{{}, points.add()}).first->second;
}

//===----------------------------------------------------------------------===//
// Values that senders have read
//===----------------------------------------------------------------------===//

/// Returns the sender whose responses contained the values from which the
/// gradients of a request were computed. Usually that is the sender of the
/// request itself. A push that is sent concurrently with steps has another
/// sender than the steps; `ownKeys` is true for it. Returns null if that sender
/// has sent no request.
AsyncMode::Sender *AsyncMode::stepsOf(const Envelope &request, bool ownKeys) {
  if (!ownKeys)
    return &senderOf(request);
  const auto workers = uint32_t(state.handshake.workers);
  if (request.worker < senderOfPushes(workers, 0))
    return nullptr;
  const auto found =
      senders.find({request.trainer, stepsOfPushes(workers, request.worker)});
  return found == senders.end() ? nullptr : &found->second;
}

/// Finds the values that were read of each row of a push. If several of the
/// push's steps have requested a key, the values of the last one count. The
/// keys of the push and of its steps have the same order. Returns an error if
/// no step has requested a key.
Status AsyncMode::findSeenRows(const ExchangeLayout &layout,
                               int32_t keysChannel, const BlockGradient &block,
                               std::vector<const void *> &rows) const {
  const auto count = size_t(block.keyCount);
  rows.assign(count, nullptr);
  const EmbeddingTable &table =
      *state.model.table(layout.channel(keysChannel).symbol);
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
    return Status::internal(
        "a push brings a gradient of a row that none of its "
        "steps has asked for: this is a fault of PDL, "
        "please report it");
  return {};
}

/// Adds the values from which the gradients of the request were computed, for
/// groups with delay compensation. Returns an error if they are not stored.
Status AsyncMode::addSeen(const Envelope &request, const ExchangeLayout &layout,
                          PartialSum &contribution) {
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
    return Status::internal(
        "trainer " + std::to_string(request.trainer) +
        " sends gradients of more steps than it has asked for: this is a fault "
        "of PDL, please report it");
  // Concurrent pushes arrive in the order of their steps, so the oldest entries
  // belong to this push. The gradients of other requests belong to the sender's
  // last response.
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
    const pdl_symbol &symbol = state.descriptor.symbols[channel.symbol];
    const int32_t update = updateOf(layout, channel.symbol);
    BlockGradient &block = contribution.blocks[update];
    if (symbol.late_dense_kernel) {
      block.seen = last.values[channel.symbol].get();
      if (!block.seen && layout.sectionBytes(state.rank(), c) > 0)
        return Status::internal(
            std::string("@") + symbol.name +
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

/// Drops the values that belong to gradients that were just applied. If the
/// sender begins a new pass, also drops those of steps whose gradients will
/// never arrive.
void AsyncMode::forgetSeen() {
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

/// Sums the gradients of a request, if it has any, and creates the rows that it
/// requests, because these steps may fail. Afterwards the request can be
/// applied without an error.
Status AsyncMode::addPush(const Envelope &request, Pulled &pulled,
                          const ExchangeLayout &layout) {
  const TraceSpan span("push");
  const int32_t program = layout.programIndex();
  const bool ownKeys = incoming->head().ownKeys;
  pushed = {};
  if (ownKeys) {
    pushed.program = program;
    pushed.message = incoming;
    PDLRT_RETURN_IF_ERROR(stepRows.insert({&pushed}));
  }
  sum.begin(state.blocks[program]);
  PartialSum contribution =
      stepRows.partialSumOf(layout, *incoming, ownKeys ? pushed : pulled);
  PDLRT_RETURN_IF_ERROR(addSeen(request, layout, contribution));
  PDLRT_RETURN_IF_ERROR(sum.add(contribution, state.scheduler));
  Expected<PartialSum> ended = state.closeSum(sum, program);
  if (!ended)
    return ended.status();
  part = std::move(*ended);
  next = {};
  if (incoming->head().hasNextBatch) {
    next.program = program;
    next.message = incoming;
  }
  PDLRT_RETURN_IF_ERROR(stepRows.insert({&next}));
  if (state.updaters[program])
    state.updaters[program]->makeRoom();
  return {};
}

Status AsyncMode::checkStep(const Envelope &request, ExchangeMessage message,
                            const ExchangeLayout &layout) {
  if (request.kind == MessageKind::Norm)
    return Status::internal(
        "a server that applies pushes as they come takes no "
        "norms by themselves");
  Pulled &pulled = senderOf(request).pulled;
  const bool ownKeys = message.head().ownKeys;
  if (ownKeys && ownPolicy)
    return Status::failedPrecondition(
        "trainer " + std::to_string(request.trainer) +
        " pushes during its steps (--push-queue), but this server was started "
        "with --max-staleness, which delays the responses to steps: leave "
        "one of the two out");
  if (message.head().contributes && !ownKeys &&
      pulled.program != layout.programIndex())
    return Status::internal(
        "worker " + std::to_string(request.worker) + " of trainer " +
        std::to_string(request.trainer) +
        " sends gradients of a step it is not in: this is a fault of PDL, "
        "please report it");
  PDLRT_RETURN_IF_ERROR(
      layout.check(ExchangeForm::Exchange, state.rank(), message,
                   ownKeys ? StateServerRows::pushedRows(layout, message)
                           : StateServerRows::pushedRows(layout, pulled)));
  incoming = std::make_shared<const ExchangeMessage>(std::move(message));
  try {
    return addPush(request, pulled, layout);
  } catch (const std::bad_alloc &error) {
    return state.outOfMemory(error, "collected what trainer " +
                                        std::to_string(request.trainer) +
                                        " sent");
  }
}

/// Returns the squared norms that the request contains, indexed by clip.
/// Senders have divided gradients by the weight of all samples. If the groups
/// of a clip merge steps by summation, the gradient is larger by a factor: the
/// number of steps.
std::vector<double> AsyncMode::normsOf(const ExchangeLayout &layout) const {
  std::vector<double> norms(state.descriptor.clip_count);
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const auto norm = incoming->sectionOf<double>(c);
    if (layout.channel(c).kind != PDL_CHANNEL_NORM || norm.empty())
      continue;
    const int32_t clip = layout.channel(c).clip;
    norms[clip] = norm[0];
    const auto *end = state.descriptor.groups + state.descriptor.group_count;
    if (std::any_of(state.descriptor.groups, end,
                    [clip](const pdl_group &group) {
                      return group.clip == clip && group.merge == PDL_MERGE_SUM;
                    }))
      norms[clip] *= double(part.steps) * double(part.steps);
  }
  return norms;
}

Status AsyncMode::takeStep(const Envelope &request, Turn turn) {
  (void)turn; // All requests come one by one.
  const ExchangeLayout &layout = state.layouts[incoming->head().program];
  const std::vector<double> norms = normsOf(layout);
  // The response to a concurrent push contains no values, because they are
  // pulled by another sender.
  const bool ownKeys = incoming->head().ownKeys;
  if (part.present && part.hasWeight()) {
    const TraceSpan span("apply");
    PDLRT_RETURN_IF_ERROR(
        state.updaters[layout.programIndex()]->finish(part, norms));
    // In these tables, a server keeps no pointers to rows. So their rows are
    // released now, even if a sender waits for samples.
    state.model.quiesce(Model::QuiescentTables::WithRowsOfUpdates);
  }
  stepRows.renew(next);
  forgetSeen();
  state.metrics.steps += part.present;
  state.metrics.mergedSteps += part.present ? part.steps - 1 : 0;
  state.metrics.apply += state.stopwatch.lap();
  stopRequested |= incoming->head().stopRequested;
  Sender &sender = senderOf(request);
  sender.allValues = incoming->head().allValues;
  sender.outcome = {};
  if (!ownKeys)
    sender.outcome.setSums(part);
  // True even without gradients in this request, because other senders have
  // changed the state since this sender's last response.
  sender.outcome.applied = !ownKeys;
  sender.outcome.contributors = incoming->head().hasNextBatch ? 1 : 0;
  sender.pulled = std::exchange(next, {});
  points.pass(sender.number, /*rests=*/sender.pulled.program < 0,
              [&] { state.model.quiesce(); });
  lastProgram = layout.programIndex();
  incoming.reset();
  return {};
}

Expected<std::vector<Message>>
AsyncMode::respondToSteps(std::span<const Envelope> requests) {
  std::vector<StateFor> to;
  for (const Envelope &request : requests) {
    Sender &sender = senderOf(request);
    // Every sender learns of a stop with its next response.
    sender.outcome.stop = stopRequested;
    to.push_back({&sender.pulled, sender.allValues, &sender.outcome});
    if (!compensates || sender.pulled.program < 0)
      continue;
    to.back().seen = &sender.seen.emplace_back(
        Seen{sender.pulled.message,
             std::vector<std::shared_ptr<std::byte>>(
                 size_t(state.layouts[lastProgram].channelCount())),
             ParameterCopies(size_t(state.descriptor.symbol_count))});
  }
  std::vector<Message> responses =
      stepResponses.stateResponses(state.layouts[lastProgram], to);
  for (const StateFor &each : to)
    seenBytes += each.seen ? each.seen->bytes : 0;
  state.metrics.noteSeenBytes(seenBytes);
  return responses;
}

std::unique_ptr<StepMode> pdlrt::createAsyncMode(const ModeSetup &setup) {
  return std::make_unique<AsyncMode>(setup);
}
