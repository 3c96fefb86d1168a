//===- GeoServer.cpp - Adds what trainers have changed --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each Exchange is handled by itself: its changes are added, and its answer has
// what others have changed since this trainer's last one. What was changed when
// is noted by a clock, which counts exchanges that changed something. A trainer
// that has seen the clock at c knows of all changes up to c, its own among
// them; so those after c are of others.
//
//===----------------------------------------------------------------------===//

#include "Server/Modes.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/FallibleTasks.h"
#include "pdlrt/Server/ChangedKeys.h"
#include "pdlrt/State/Deltas.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <utility>

using namespace pdlrt;

namespace {

class GeoServer final : public StateServer {
public:
  explicit GeoServer(const ServerSetup &setup)
      : StateServer(setup), seen(trainers()),
        parameterClock(descriptor.symbol_count),
        changedKeys(descriptor.symbol_count), answers(trainers()) {}

  void noteLoaded() override;
  const RoundPolicy &roundPolicy() const override { return roundsOfSums(); }

protected:
  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind) override {
    return Status::internal("mode geo has no rounds of steps");
  }
  Expected<std::vector<Message>>
  answerSteps(std::span<const Envelope> requests) override;
  /// Trainers save the state.
  std::vector<const Pulled *> pendingKeys() const override { return {}; }

private:
  /// One trainer's values take the place of the server's: a difference and a
  /// sum would be rounded.
  bool replaces() const { return trainers() == 1; }
  Status addToParameter(const ExchangeLayout &layout, int32_t channel);
  Status addToRows(const ExchangeLayout &layout, int32_t channel);
  Status refuse(int32_t symbol) const;
  void addChangedRows(const ExchangeLayout &layout, int32_t rowsChannel,
                      ExchangeWriter &writer);
  Message answerFor(const ExchangeLayout &layout, uint32_t trainer);

  /// By trainer: the clock at its last exchange.
  std::vector<uint64_t> seen;
  uint64_t clock = 0;
  /// By symbol: of a parameter when it was changed last, of a table which keys.
  std::vector<uint64_t> parameterClock;
  std::vector<ChangedKeys> changedKeys;
  /// The request that was checked last, and the rows of its keys.
  std::shared_ptr<const ExchangeMessage> incoming;
  const ExchangeLayout *incomingLayout = nullptr;
  Pulled changed;
  /// By channel of keys that an answer brings.
  std::vector<std::vector<int64_t>> others;
  std::vector<TableScratch> taskScratch;
  /// By trainer: to its request that was taken.
  std::vector<Message> answers;
};

} // namespace

/// As if somebody else had changed everything.
void GeoServer::noteLoaded() {
  ++clock;
  RowList rows;
  std::vector<int64_t> keys;
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    parameterClock[s] = clock;
    const EmbeddingTable *table = ownModel.table(s);
    keys.clear();
    for (int shard = 0; table && shard < EmbeddingTable::shardCount; ++shard) {
      table->collectShard(shard, rows);
      for (const TableRow &row : rows)
        keys.push_back(row.key);
    }
    changedKeys[s].note(clock, keys);
  }
}

/// What may fail: the message, then room for its rows.
Status GeoServer::checkStep(const Envelope &request, ExchangeMessage message,
                            const ExchangeLayout &layout) {
  if (request.kind == MessageKind::Norm)
    return Status::invalid("mode geo has no requests of norms");
  PDLRT_RETURN_IF_ERROR(
      layout.check(ExchangeForm::Exchange, rank(), message, {}));
  incoming = std::make_shared<const ExchangeMessage>(std::move(message));
  incomingLayout = &layout;
  changed = {};
  try {
    if (incoming->head().contributes) {
      changed.program = layout.programIndex();
      changed.message = incoming;
    }
    PDLRT_RETURN_IF_ERROR(insertKeys({&changed}));
    others.assign(layout.channelCount(), {});
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_CHANGED_KEYS)
        others[c] =
            changedKeys[layout.channel(c).symbol].since(seen[request.trainer]);
  } catch (const std::bad_alloc &error) {
    return outOfMemory(error, fmt::format("took up what trainer {} has changed",
                                          request.trainer));
  }
  return {};
}

Status GeoServer::refuse(int32_t symbol) const {
  const int32_t group = descriptor.symbols[symbol].group;
  return Status::invalid(fmt::format(
      "@{} is not finite any more where the changes of trainers were added; "
      "train with a smaller rate, or with a clip{}",
      descriptor.symbols[symbol].name,
      mergesBySum(descriptor, group) ? ", or leave merge(sum) out of its group"
                                     : ""));
}

Status GeoServer::addToParameter(const ExchangeLayout &layout,
                                 int32_t channel) {
  constexpr int64_t elementsInTask = 1 << 14;
  const int32_t symbol = layout.channel(channel).symbol;
  const int32_t type = descriptor.symbols[symbol].element_type;
  const size_t size = elementSize(type);
  const auto section = incoming->section(channel);
  const int64_t count = int64_t(section.size() / size);
  auto *values = static_cast<std::byte *>(ownModel.value(symbol));
  if (replaces()) {
    if (!section.empty())
      std::memcpy(values, section.data(), section.size());
    return {};
  }
  std::atomic<bool> isFinite = true;
  scheduler.parallelFor(
      (count + elementsInTask - 1) / elementsInTask, [&](int64_t task) {
        const int64_t begin = task * elementsInTask;
        const int64_t part = std::min(elementsInTask, count - begin);
        std::byte *to = values + size_t(begin) * size;
        addDeltas(type, part, section.data() + size_t(begin) * size, to);
        if (!allFinite(type, part, to))
          isFinite = false;
      });
  return isFinite ? Status() : refuse(symbol);
}

Status GeoServer::addToRows(const ExchangeLayout &layout, int32_t channel) {
  const int32_t symbol = layout.channel(channel).symbol;
  const int32_t type = descriptor.symbols[symbol].element_type;
  const int64_t width = descriptor.symbols[symbol].row_width;
  const size_t bytes = layout.sectionBytes(rank(), channel);
  const std::byte *deltas = incoming->section(channel).data();
  const std::vector<void *> &rows = changed.rows[layout.keysOf(channel)];
  const RowLayout &rowLayout = ownModel.table(symbol)->layout();
  const auto count = int64_t(rows.size());
  std::atomic<bool> isFinite = true;
  scheduler.parallelFor(
      (count + keysInTask - 1) / keysInTask, [&](int64_t task) {
        const int64_t end = std::min(count, (task + 1) * keysInTask);
        for (int64_t i = task * keysInTask; i < end; ++i) {
          const std::byte *delta = deltas + size_t(i) * bytes;
          rowLayout.headerOf(rows[i]).noteWrite();
          if (replaces()) {
            std::memcpy(rows[i], delta, bytes);
            continue;
          }
          addDeltas(type, width, delta, rows[i]);
          if (!allFinite(type, width, rows[i]))
            isFinite = false;
        }
      });
  return isFinite ? Status() : refuse(symbol);
}

void GeoServer::addChangedRows(const ExchangeLayout &layout,
                               int32_t rowsChannel, ExchangeWriter &writer) {
  const std::vector<int64_t> &keys = others[layout.keysOf(rowsChannel)];
  const EmbeddingTable &table =
      *ownModel.table(layout.channel(rowsChannel).symbol);
  const size_t bytes = layout.sectionBytes(rank(), rowsChannel);
  const auto count = int64_t(keys.size());
  const std::shared_ptr<std::byte> out = pool.take(size_t(count) * bytes);
  const int64_t tasks = (count + keysInTask - 1) / keysInTask;
  if (taskScratch.size() < size_t(tasks))
    taskScratch.resize(tasks);
  std::vector<void *> rows(keys.size());
  fallibleFor(scheduler, tasks, [&](int64_t task) {
    const int64_t begin = task * keysInTask;
    const int64_t end = std::min(count, begin + keysInTask);
    table.find(end - begin, keys.data() + begin, rows.data() + begin,
               taskScratch[task]);
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(out.get() + size_t(i) * bytes, rows[i], bytes);
  });
  writer.add(rowsChannel, out.get(), size_t(count) * bytes, out);
}

Message GeoServer::answerFor(const ExchangeLayout &layout, uint32_t trainer) {
  const TraceSpan span("answer");
  Snapshot snapshot(descriptor.symbol_count);
  ExchangeWriter writer(layout, {});
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const int32_t symbol = layout.channel(c).symbol;
    if (layout.channel(c).kind == PDL_CHANNEL_VALUE &&
        parameterClock[symbol] > seen[trainer])
      addValues(layout, c, /*frozen=*/false, snapshot, writer);
    if (layout.channel(c).kind == PDL_CHANNEL_CHANGED_KEYS)
      writer.addCopy(c, others[c].data(), others[c].size() * sizeof(int64_t));
    if (layout.channel(c).kind == PDL_CHANNEL_ROWS)
      addChangedRows(layout, c, writer);
  }
  return writer.finish();
}

Status GeoServer::takeStep(const Envelope &request, Turn turn) {
  (void)turn; // All come by themselves.
  const ExchangeLayout &layout = *incomingLayout;
  if (incoming->head().contributes) {
    const TraceSpan span("add");
    ++ownCosts.steps;
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      if (layout.channel(c).kind == PDL_CHANNEL_DELTA)
        PDLRT_RETURN_IF_ERROR(addToParameter(layout, c));
      if (layout.channel(c).kind == PDL_CHANNEL_ROW_DELTA)
        PDLRT_RETURN_IF_ERROR(addToRows(layout, c));
    }
    ownCosts.apply += stopwatch.lap();
  }
  answers[request.trainer] = answerFor(layout, request.trainer);
  // A trainer that is alone knows of its own changes.
  if (incoming->head().contributes && !replaces()) {
    ++clock;
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const int32_t symbol = layout.channel(c).symbol;
      if (layout.channel(c).kind == PDL_CHANNEL_DELTA)
        parameterClock[symbol] = clock;
      if (layout.channel(c).kind == PDL_CHANNEL_ROW_DELTA)
        changedKeys[symbol].note(
            clock, incoming->sectionOf<int64_t>(layout.keysOf(c)));
    }
  }
  seen[request.trainer] = clock;
  for (ChangedKeys &keys : changedKeys)
    keys.forget(seen);
  // The next request may be long in coming.
  changed = {};
  incoming.reset();
  return {};
}

Expected<std::vector<Message>>
GeoServer::answerSteps(std::span<const Envelope> requests) {
  std::vector<Message> result;
  for (const Envelope &request : requests)
    result.push_back(std::exchange(answers[request.trainer], {}));
  return result;
}

std::unique_ptr<StateServer> pdlrt::createGeoServer(const ServerSetup &setup) {
  return std::make_unique<GeoServer>(setup);
}
