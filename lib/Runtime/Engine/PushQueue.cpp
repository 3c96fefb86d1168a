//===- PushQueue.cpp - Pushes in the background ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/PushQueue.h"
#include "pdlrt/Core/Mutex.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Engine/OwnNorms.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace pdlrt;

/// A push: the merged gradients of some steps. They are sent by reference.
struct PushQueue::Push {
  /// Copy of the step that was added first.
  PartialSum first;
  std::vector<AlignedBuffer> dense;
  /// Indexed by step, then by block: copies of the keys and of their gradient
  /// rows, and the address of each copied row.
  struct Rows {
    std::vector<int64_t> keys;
    AlignedBuffer values;
    std::vector<void *> pointers;
  };
  std::vector<std::vector<Rows>> rows;
  /// The sum of all steps, if there are at least two.
  RunningSum sum;
  int64_t steps = 0;
  /// Indexed by lookup; set when the push is complete.
  std::vector<KeyRouter> routers;
};

/// Collects pushes for reuse. A push arrives on the thread that drops the last
/// reference to it.
class PushQueue::Shelf {
public:
  std::unique_ptr<Push> pick() {
    const MutexLock lock(mutex);
    if (pushes.empty())
      return std::make_unique<Push>();
    std::unique_ptr<Push> push = std::move(pushes.back());
    pushes.pop_back();
    return push;
  }
  void putBack(std::unique_ptr<Push> push) {
    const MutexLock lock(mutex);
    pushes.push_back(std::move(push));
  }

private:
  Mutex mutex;
  std::vector<std::unique_ptr<Push>> pushes PDLRT_GUARDED_BY(mutex);
};

PushQueue::PushQueue(const pdl_descriptor &descriptor, ExchangeLayout layout,
                     ServerGroup &servers, Scheduler &scheduler,
                     const PushOptions &options)
    : descriptor(descriptor), layout(std::move(layout)),
      blocks(gradientBlocks(descriptor, this->layout.program())),
      scheduler(scheduler), options(options), shelf(std::make_shared<Shelf>()),
      queues(servers, options.queued), bytesUnderWay(servers.size()),
      metrics(this->layout.program(), this->layout.placement()),
      background(this->layout.program()) {}

Expected<std::unique_ptr<PushQueue>>
PushQueue::create(const pdl_descriptor &descriptor, int32_t program,
                  const Placement &placement, ServerGroup &servers,
                  Scheduler &scheduler, const PushOptions &options) {
  Expected<ExchangeLayout> layout =
      ExchangeLayout::create(descriptor, program, placement);
  if (!layout)
    return layout.status();
  return std::unique_ptr<PushQueue>(new PushQueue(
      descriptor, std::move(*layout), servers, scheduler, options));
}

void PushQueue::setPacking(KeyPacking ofKeys, GradientPacking ofGradients) {
  keyPacking = ofKeys;
  sumWriter.setPacking(ofGradients);
}

void PushQueue::forgetRemainders() { sumWriter.forgetRemainders(); }

std::shared_ptr<PushQueue::Push> PushQueue::takePush() {
  std::unique_ptr<Push> push = shelf->pick();
  push->steps = 0;
  return {push.release(), [home = shelf](Push *ended) {
            home->putBack(std::unique_ptr<Push>(ended));
          }};
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Adds the gradients of a step to the push that is being merged. The memory of
/// `step` is reused by later steps. So keys and rows are always copied, because
/// the sum refers to the row of a key that only one step has. Dense gradients
/// of the first step are copied, too. Those of later steps are added to the sum
/// at once.
Status PushQueue::add(const PartialSum &step) {
  const TraceSpan span("merge");
  if (!merging)
    merging = takePush();
  Push &push = *merging;
  PartialSum part = step;
  push.dense.resize(blocks.size());
  if (push.rows.size() <= size_t(push.steps))
    push.rows.emplace_back();
  std::vector<Push::Rows> &rows = push.rows[push.steps];
  rows.resize(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    BlockGradient &block = part.blocks[b];
    const size_t bytes =
        size_t(blocks[b].elementCount) * elementSize(blocks[b].elementType);
    if (!blocks[b].isTable) {
      if (push.steps > 0)
        continue;
      block.dense =
          std::memcpy(push.dense[b].reserve(bytes), block.dense, bytes);
      continue;
    }
    Push::Rows &own = rows[b];
    own.keys.assign(block.keys, block.keys + block.keyCount);
    auto *to = static_cast<std::byte *>(
        own.values.reserve(size_t(block.keyCount) * bytes));
    own.pointers.resize(size_t(block.keyCount));
    for (int64_t i = 0; i < block.keyCount; ++i, to += bytes)
      own.pointers[i] = std::memcpy(to, block.gradients[i], bytes);
    block.keys = own.keys.data();
    // The row pointers are not used: this process has no rows of the table.
    block.rows = own.pointers.data();
    block.gradients = const_cast<const void *const *>(own.pointers.data());
  }
  if (push.steps == 0) {
    push.first = std::move(part);
  } else {
    if (push.steps == 1) {
      push.sum.begin(blocks);
      PDLRT_RETURN_IF_ERROR(push.sum.add(push.first, scheduler));
    }
    PDLRT_RETURN_IF_ERROR(push.sum.add(part, scheduler));
  }
  ++push.steps;
  return {};
}

//===----------------------------------------------------------------------===//
// Sending
//===----------------------------------------------------------------------===//

Message PushQueue::payloadOf(int32_t server, const ExchangeHead &head,
                             const PartialSum &sum,
                             const std::vector<double> &norms) {
  ExchangeWriter writer(layout, head);
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    sumWriter.add(layout, server, c, sum, merging->routers, merging, writer);
    if (channel.kind == PDL_CHANNEL_NORM)
      writer.addCopy(c, &norms[c], sizeof(double));
    // Nothing is pushed for tables that this program only reads.
    if (channel.kind == PDL_CHANNEL_KEYS &&
        layout.updateOf(channel.symbol) >= 0)
      writer.addKeys(
          c, merging->routers[layout.lookupOf(channel.symbol)].keysOf(server),
          merging);
  }
  return writer.finish();
}

Status PushQueue::send() {
  if (queues.isFull())
    PDLRT_RETURN_IF_ERROR(waitForRoom());
  const TraceSpan span("push", {merging->steps});
  stopwatch.lap();
  Push &push = *merging;
  const pdl_program &program = layout.program();
  const PartialSum &sum =
      push.steps == 1 ? push.first : push.sum.finish(scheduler);
  push.routers.resize(program.lookup_count);
  for (int32_t u = 0; u < program.update_count; ++u)
    if (blocks[u].isTable)
      push.routers[layout.lookupOf(blocks[u].symbol)].assign(
          layout.placement(), blocks[u].symbol, sum.blocks[u].keyCount,
          sum.blocks[u].keys);
  ExchangeHead head;
  head.contributes = true;
  head.ownKeys = true;
  head.steps = uint32_t(push.steps);
  head.stopRequested = requestsStop;
  head.keys = keyPacking;
  sumWriter.begin(layout, sum, head);
  const std::vector<double> norms =
      ownNorms(descriptor, layout, sum, push.routers);
  std::vector<Message> payloads;
  for (size_t s = 0; s < bytesUnderWay.size(); ++s) {
    payloads.push_back(payloadOf(int32_t(s), head, sum, norms));
    const int64_t size = metrics.servers[s].noteRequest(payloads.back().size());
    bytesUnderWay[s].push_back(size);
    bytes += size;
  }
  background.noteInFlight(bytes);
  ++background.pushes;
  background.pushedSteps += push.steps;
  merging.reset();
  queues.add(MessageKind::Exchange, std::move(payloads));
  metrics.serialize += stopwatch.lap();
  return {};
}

Status PushQueue::takeResponses() {
  for (ServerQueues::Response &response : queues.takeResponses()) {
    std::vector<int64_t> &pushes = bytesUnderWay[response.server];
    bytes -= pushes.front();
    pushes.erase(pushes.begin());
    TrafficMetrics &traffic = metrics.servers[response.server];
    traffic.noteResponse(response.payload.size());
    const Expected<ExchangeMessage> message = layout.takeResponse(
        ExchangeForm::State, int32_t(response.server), response.payload, {});
    if (!message)
      return Status(message.status())
          .withContext("the response of " + traffic.name());
    sawStop |= message->head().stopRequested;
  }
  background.push += queues.busySeconds() - background.push.value();
  return queues.failure();
}

Status PushQueue::waitForRoom() {
  const TraceSpan span("wait for a push");
  stopwatch.lap();
  Status status = queues.waitForRoom();
  background.pushWait += stopwatch.lap();
  return status;
}

Status PushQueue::push(const PartialSum &sum, bool stop) {
  PDLRT_RETURN_IF_ERROR(takeResponses());
  PDLRT_RETURN_IF_ERROR(add(sum));
  requestsStop |= stop;
  const bool mayMerge = merging->steps < options.maxMerge;
  // The connections are busy, so the next step can be merged.
  if (mayMerge && (queues.isFull() || !queues.hasIdleServer()))
    return {};
  return send();
}

Status PushQueue::drain() {
  if (merging)
    PDLRT_RETURN_IF_ERROR(send());
  {
    const TraceSpan span("wait for pushes");
    stopwatch.lap();
    Status status = queues.waitUntilEmpty();
    background.pushWait += stopwatch.lap();
    PDLRT_RETURN_IF_ERROR(std::move(status));
  }
  return takeResponses();
}

bool PushQueue::isEmpty() const { return !merging && queues.isEmpty(); }

ExchangeCosts PushQueue::costs() const {
  ExchangeCosts costs = metrics.costs();
  costs.background = background.costs();
  costs.background.push = queues.busySeconds();
  return costs;
}
