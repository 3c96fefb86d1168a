//===- GeoServer.cpp - Merges the model deltas of trainers ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode geo (GEO-SGD): each Exchange is handled by itself. Its deltas are added
// to the state, and its response contains what other trainers have changed
// since the previous response to this trainer. A clock counts the exchanges
// with changes, and the time of each change is recorded. A trainer with a
// response at time c knows all changes up to c, including its own. So changes
// after c are those of other trainers.
//
//===----------------------------------------------------------------------===//

#include "Server/StepMode.h"

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

class GeoMode final : public StepMode {
public:
  explicit GeoMode(const ModeSetup &setup)
      : StepMode(setup), seen(state.trainers()),
        parameterClock(state.descriptor.symbol_count),
        changedKeys(state.descriptor.symbol_count),
        responses(state.trainers()) {}

  void noteLoaded() override;
  const RoundPolicy &roundPolicy() const override { return roundsOfSums(); }

  Status checkStep(const Envelope &request, ExchangeMessage message,
                   const ExchangeLayout &layout) override;
  Status takeStep(const Envelope &request, Turn turn) override;
  Status closeStep(MessageKind) override {
    return Status::internal("mode geo has no rounds of steps");
  }
  Expected<std::vector<Message>>
  respondToSteps(std::span<const Envelope> requests) override;
  /// Returns no keys: trainers save the state in this mode.
  std::vector<const Pulled *> pendingKeys() const override { return {}; }

private:
  /// Returns true if the values of a trainer replace those of the server. This
  /// is so if there is only one trainer, because adding a difference would
  /// round.
  bool replaces() const { return state.trainers() == 1; }
  Status addToParameter(const ExchangeLayout &layout, int32_t channel);
  Status addToRows(const ExchangeLayout &layout, int32_t channel);
  Status refuse(int32_t symbol) const;
  void addChangedRows(const ExchangeLayout &layout, int32_t rowsChannel,
                      ExchangeWriter &writer);
  Message responseFor(const ExchangeLayout &layout, uint32_t trainer);

  /// Clock at the last exchange of each trainer.
  std::vector<uint64_t> seen;
  uint64_t clock = 0;
  /// Indexed by symbol: the value of `clock` at the last change of a parameter,
  /// and the changed keys of a table.
  std::vector<uint64_t> parameterClock;
  std::vector<ChangedKeys> changedKeys;
  /// `incoming`: the last checked request. `changed`: its keys, with the rows
  /// on this server.
  std::shared_ptr<const ExchangeMessage> incoming;
  const ExchangeLayout *incomingLayout = nullptr;
  Pulled changed;
  /// Keys to put into the response, by channel.
  std::vector<std::vector<int64_t>> others;
  std::vector<TableScratch> taskScratch;
  /// Responses to taken requests, indexed by trainer.
  std::vector<Message> responses;
};

} // namespace

/// Records that all parameters and rows have changed, so that each trainer gets
/// them.
void GeoMode::noteLoaded() {
  ++clock;
  RowList rows;
  std::vector<int64_t> keys;
  for (int32_t s = 0; s < state.descriptor.symbol_count; ++s) {
    parameterClock[s] = clock;
    const EmbeddingTable *table = state.model.table(s);
    keys.clear();
    for (int shard = 0; table && shard < EmbeddingTable::shardCount; ++shard) {
      table->collectShard(shard, rows);
      for (const TableRow &row : rows)
        keys.push_back(row.key);
    }
    changedKeys[s].note(clock, keys);
  }
}

/// Checks the message and finds or creates the rows of its keys, because these
/// may fail. Afterwards the request can be applied without an error.
Status GeoMode::checkStep(const Envelope &request, ExchangeMessage message,
                          const ExchangeLayout &layout) {
  if (request.kind == MessageKind::Norm)
    return Status::internal("mode geo has no requests of norms");
  PDLRT_RETURN_IF_ERROR(
      layout.check(ExchangeForm::Exchange, state.rank(), message, {}));
  incoming = std::make_shared<const ExchangeMessage>(std::move(message));
  incomingLayout = &layout;
  changed = {};
  try {
    if (incoming->head().contributes) {
      changed.program = layout.programIndex();
      changed.message = incoming;
    }
    PDLRT_RETURN_IF_ERROR(stepRows.insert({&changed}));
    others.assign(layout.channelCount(), {});
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_CHANGED_KEYS)
        others[c] =
            changedKeys[layout.channel(c).symbol].since(seen[request.trainer]);
  } catch (const std::bad_alloc &error) {
    return state.outOfMemory(
        error,
        fmt::format("collected what trainer {} has changed", request.trainer));
  }
  return {};
}

Status GeoMode::refuse(int32_t symbol) const {
  const int32_t group = state.descriptor.symbols[symbol].group;
  return Status::invalidArgument(fmt::format(
      "@{} is not finite any more where the changes of trainers were added; "
      "train with a smaller rate, or with a clip{}",
      state.descriptor.symbols[symbol].name,
      mergesBySum(state.descriptor, group)
          ? ", or leave merge(sum) out of its group"
          : ""));
}

Status GeoMode::addToParameter(const ExchangeLayout &layout, int32_t channel) {
  constexpr int64_t elementsInTask = 1 << 14;
  const int32_t symbol = layout.channel(channel).symbol;
  const int32_t type = state.descriptor.symbols[symbol].element_type;
  const size_t size = elementSize(type);
  const auto section = incoming->section(channel);
  const int64_t count = int64_t(section.size() / size);
  auto *values = static_cast<std::byte *>(state.model.value(symbol));
  if (replaces()) {
    if (!section.empty())
      std::memcpy(values, section.data(), section.size());
    return {};
  }
  std::atomic<bool> isFinite = true;
  state.scheduler.parallelFor(
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

Status GeoMode::addToRows(const ExchangeLayout &layout, int32_t channel) {
  const int32_t symbol = layout.channel(channel).symbol;
  const int32_t type = state.descriptor.symbols[symbol].element_type;
  const int64_t width = state.descriptor.symbols[symbol].row_width;
  const size_t bytes = layout.sectionBytes(state.rank(), channel);
  const std::byte *deltas = incoming->section(channel).data();
  const std::vector<void *> &rows = changed.rows[layout.keysOf(channel)];
  const RowLayout &rowLayout = state.model.table(symbol)->layout();
  const auto count = int64_t(rows.size());
  std::atomic<bool> isFinite = true;
  state.scheduler.parallelFor(
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

void GeoMode::addChangedRows(const ExchangeLayout &layout, int32_t rowsChannel,
                             ExchangeWriter &writer) {
  const std::vector<int64_t> &keys = others[layout.keysOf(rowsChannel)];
  const EmbeddingTable &table =
      *state.model.table(layout.channel(rowsChannel).symbol);
  const size_t bytes = layout.sectionBytes(state.rank(), rowsChannel);
  const auto count = int64_t(keys.size());
  const std::shared_ptr<std::byte> out = state.pool.take(size_t(count) * bytes);
  const int64_t tasks = (count + keysInTask - 1) / keysInTask;
  if (taskScratch.size() < size_t(tasks))
    taskScratch.resize(tasks);
  std::vector<void *> rows(keys.size());
  fallibleFor(state.scheduler, tasks, [&](int64_t task) {
    const int64_t begin = task * keysInTask;
    const int64_t end = std::min(count, begin + keysInTask);
    table.find(end - begin, keys.data() + begin, rows.data() + begin,
               taskScratch[task]);
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(out.get() + size_t(i) * bytes, rows[i], bytes);
  });
  writer.add(rowsChannel, out.get(), size_t(count) * bytes, out);
}

Message GeoMode::responseFor(const ExchangeLayout &layout, uint32_t trainer) {
  const TraceSpan span("respond");
  ParameterCopies snapshot(state.descriptor.symbol_count);
  ExchangeWriter writer(layout, {});
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const int32_t symbol = layout.channel(c).symbol;
    if (layout.channel(c).kind == PDL_CHANNEL_VALUE &&
        parameterClock[symbol] > seen[trainer])
      stepResponses.addValues(layout, c, /*frozen=*/false, snapshot, writer);
    if (layout.channel(c).kind == PDL_CHANNEL_CHANGED_KEYS)
      writer.addCopy(c, others[c].data(), others[c].size() * sizeof(int64_t));
    if (layout.channel(c).kind == PDL_CHANNEL_ROWS)
      addChangedRows(layout, c, writer);
  }
  return writer.finish();
}

Status GeoMode::takeStep(const Envelope &request, Turn turn) {
  (void)turn; // All requests come one by one.
  const ExchangeLayout &layout = *incomingLayout;
  if (incoming->head().contributes) {
    const TraceSpan span("push");
    ++state.metrics.steps;
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      if (layout.channel(c).kind == PDL_CHANNEL_DELTA)
        PDLRT_RETURN_IF_ERROR(addToParameter(layout, c));
      if (layout.channel(c).kind == PDL_CHANNEL_ROW_DELTA)
        PDLRT_RETURN_IF_ERROR(addToRows(layout, c));
    }
    state.metrics.apply += state.stopwatch.lap();
  }
  responses[request.trainer] = responseFor(layout, request.trainer);
  // Records what has changed, for the other trainers. With a single trainer
  // (`replaces`), no other trainer needs this.
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
  // Release memory, because the next request may take long to arrive.
  changed = {};
  incoming.reset();
  return {};
}

Expected<std::vector<Message>>
GeoMode::respondToSteps(std::span<const Envelope> requests) {
  std::vector<Message> result;
  for (const Envelope &request : requests)
    result.push_back(std::exchange(responses[request.trainer], {}));
  return result;
}

std::unique_ptr<StepMode> pdlrt::createGeoMode(const ModeSetup &setup) {
  return std::make_unique<GeoMode>(setup);
}
