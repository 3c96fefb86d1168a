//===- CopyExchange.cpp - Exchange of model deltas (GEO-SGD) --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/CopyExchange.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/State/Deltas.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

/// Number of rows, or of elements of a parameter, per task.
static constexpr int64_t rowsInTask = 1024, elementsInTask = 1 << 14;

static int64_t taskCount(int64_t count, int64_t inTask) {
  return (count + inTask - 1) / inTask;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

CopyExchange::CopyExchange(const pdl_descriptor &descriptor,
                           const Placement &placement, ServerGroup &servers,
                           Model &model, Scheduler &scheduler,
                           const Options &options, ExchangeLayout layout)
    : descriptor(descriptor), placement(placement), servers(servers),
      model(model), scheduler(scheduler), options(options),
      layout(std::move(layout)), metrics(this->layout.program(), placement) {}

/// Returns a table without slots, with the values of `copy`.
static Expected<std::unique_ptr<EmbeddingTable>>
makeBase(const EmbeddingTable &copy) {
  TableOptions options = copy.options();
  options.slotInitialValues.clear();
  options.rowSlotCount = options.frozenPart = 0;
  std::unique_ptr<EmbeddingTable> base = createHashTable(std::move(options));
  RowList rows;
  std::vector<int64_t> keys;
  std::vector<void *> own;
  for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
    copy.collectShard(shard, rows);
    keys.resize(rows.size());
    own.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i)
      keys[i] = rows[i].key;
    PDLRT_RETURN_IF_ERROR(base->insertShard(
        shard, int64_t(keys.size()), keys.data(), own.data(), NewRow::Open));
    for (size_t i = 0; i < rows.size(); ++i)
      std::memcpy(own[i], rows[i].row, base->valueBytes());
  }
  return base;
}

Expected<std::unique_ptr<CopyExchange>>
CopyExchange::create(const pdl_descriptor &descriptor, int32_t program,
                     const Placement &placement, ServerGroup &servers,
                     Model &model, Scheduler &scheduler,
                     const Options &options) {
  Expected<ExchangeLayout> layout =
      ExchangeLayout::create(descriptor, program, placement);
  if (!layout)
    return layout.status();
  if (!layout->carriesDeltas())
    return Status::internal(
        std::string("program @") + descriptor.programs[program].name +
        " says nothing of what it changes; translate the model again");
  std::unique_ptr<CopyExchange> copies(
      new CopyExchange(descriptor, placement, servers, model, scheduler,
                       options, std::move(*layout)));
  for (int32_t c = 0; c < copies->layout.channelCount(); ++c) {
    const int32_t s = copies->layout.channel(c).symbol;
    const pdl_symbol &symbol = descriptor.symbols[s];
    if (copies->layout.channel(c).kind == PDL_CHANNEL_VALUE) {
      Parameter &parameter = copies->parameters.emplace_back();
      parameter.symbol = s;
      parameter.divisor = copies->divisorOf(symbol);
      parameter.hasBase = copies->needsBases() &&
                          copies->layout.find(PDL_CHANNEL_DELTA, s) >= 0;
      if (!parameter.hasBase)
        continue;
      const size_t bytes = size_t(elementCount(symbol)) * elementSize(symbol);
      std::memcpy(parameter.base.reserve(bytes), model.value(s), bytes);
      parameter.deltas.reserve(bytes);
    }
    if (copies->layout.channel(c).kind == PDL_CHANNEL_ROWS) {
      Table &table = copies->tables.emplace_back();
      table.symbol = s;
      table.copy = model.table(s);
      table.divisor = copies->divisorOf(symbol);
      if (copies->layout.find(PDL_CHANNEL_ROW_DELTA, s) < 0)
        continue;
      if (symbol.storage != PDL_STORE_ELEMENT)
        return Status::internal(
            std::string("table @") + symbol.name +
            " stores 16 bits, which changes do not fit; translate the model "
            "again");
      if (!copies->needsBases())
        continue;
      auto base = makeBase(*table.copy);
      if (!base)
        return base.status();
      table.base = std::move(*base);
    }
  }
  return copies;
}

int CopyExchange::divisorOf(const pdl_symbol &symbol) const {
  return mergesBySum(descriptor, symbol.group) ? 1 : options.trainers;
}

CopyExchange::Table *CopyExchange::tableOf(int32_t symbol) {
  for (Table &table : tables)
    if (table.symbol == symbol)
      return &table;
  return nullptr;
}

CopyExchange::Parameter *CopyExchange::parameterOf(int32_t symbol) {
  for (Parameter &parameter : parameters)
    if (parameter.symbol == symbol)
      return &parameter;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Changed keys
//===----------------------------------------------------------------------===//

/// Removes duplicate keys.
Status CopyExchange::compact(std::vector<int64_t> &keys) {
  const int64_t *all = keys.data();
  const auto count = int64_t(keys.size());
  PDLRT_RETURN_IF_ERROR(index.assign(1, &all, &count));
  std::copy_n(index.keys(), index.keyCount(), keys.data());
  keys.resize(size_t(index.keyCount()));
  return {};
}

/// Calls `compact` if the list has at least `atLeast` keys. Then sets `atLeast`
/// to twice the number of the keys that remain, but at least 65,536, so that
/// each added key has a constant amortized cost.
Status CopyExchange::compactAt(std::vector<int64_t> &keys, size_t &atLeast) {
  if (keys.size() < atLeast)
    return {};
  PDLRT_RETURN_IF_ERROR(compact(keys));
  atLeast = std::max(size_t(1) << 16, 2 * keys.size());
  return {};
}

void CopyExchange::note(const PartialSum &sum) {
  hasChanged = true;
  const pdl_program &program = layout.program();
  for (int32_t u = 0; u < program.update_count; ++u) {
    Table *table = tableOf(program.updates[u].symbol);
    if (!table)
      continue;
    const BlockGradient &block = sum.blocks[u];
    table->noted.insert(table->noted.end(), block.keys,
                        block.keys + block.keyCount);
    // If this fails, the next exchange fails, too.
    (void)compactAt(table->noted, table->compactNotedAt);
  }
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Calls range(begin) for [begin, begin + rowsInTask), in parallel.
void CopyExchange::forEachRow(int64_t count, TaskRef range) {
  scheduler.parallelFor(taskCount(count, rowsInTask),
                        [&](int64_t task) { range(task * rowsInTask); });
}

/// Finds or inserts the rows of `keys` in the local copy of the table, and in
/// the copy's base if it has one.
Status CopyExchange::insertRows(Table &table, std::span<const int64_t> keys) {
  const auto count = int64_t(keys.size());
  table.rows.resize(keys.size());
  table.baseRows.resize(keys.size());
  table.scratch.resize(
      std::max(table.scratch.size(), size_t(taskCount(count, rowsInTask))));
  std::vector<Status> statuses(table.scratch.size());
  forEachRow(count, [&](int64_t begin) {
    const int64_t part = std::min(rowsInTask, count - begin);
    const auto task = size_t(begin / rowsInTask);
    int64_t inserted = 0;
    try {
      statuses[task] = table.copy->findOrInsert(part, keys.data() + begin,
                                                table.rows.data() + begin,
                                                table.scratch[task], inserted);
      if (statuses[task].ok() && table.base)
        statuses[task] = table.base->findOrInsert(
            part, keys.data() + begin, table.baseRows.data() + begin,
            table.scratch[task], inserted);
    } catch (const std::bad_alloc &) {
      statuses[task] = Status::outOfMemory(
          "out of memory: a trainer of mode geo holds all rows of @" +
          table.copy->options().name +
          ", its own and those of others; use a machine with more memory, or "
          "another mode");
    }
  });
  for (Status &status : statuses)
    PDLRT_RETURN_IF_ERROR(std::move(status));
  return {};
}

void CopyExchange::takeDeltasOf(Parameter &parameter) {
  const pdl_symbol &symbol = descriptor.symbols[parameter.symbol];
  const size_t size = elementSize(symbol);
  const int64_t count = elementCount(symbol);
  auto *copy = static_cast<const std::byte *>(model.value(parameter.symbol));
  auto *base = static_cast<std::byte *>(parameter.base.data());
  auto *deltas = static_cast<std::byte *>(parameter.deltas.data());
  scheduler.parallelFor(taskCount(count, elementsInTask), [&](int64_t task) {
    const int64_t begin = task * elementsInTask;
    const size_t at = size_t(begin) * size;
    takeDeltas(symbol.element_type, std::min(elementsInTask, count - begin),
               copy + at, parameter.divisor, base + at, deltas + at);
  });
}

/// Adds the deltas of a server's rows to a request. With one trainer, adds the
/// rows themselves.
void CopyExchange::addRowDeltas(Table &table, int32_t server, int32_t channel,
                                ExchangeWriter &writer) {
  const pdl_symbol &symbol = descriptor.symbols[table.symbol];
  const std::span<const int32_t> places = table.router.placesOf(server);
  const auto count = int64_t(places.size());
  const size_t bytes = layout.sectionBytes(server, channel);
  const std::shared_ptr<std::byte> deltas = pool.take(size_t(count) * bytes);
  forEachRow(count, [&](int64_t begin) {
    const int64_t end = std::min(count, begin + rowsInTask);
    for (int64_t i = begin; i < end; ++i) {
      const int32_t place = places[size_t(i)];
      std::byte *out = deltas.get() + size_t(i) * bytes;
      if (table.base)
        takeDeltas(symbol.element_type, symbol.row_width,
                   table.rows[size_t(place)], table.divisor,
                   table.baseRows[size_t(place)], out);
      else
        std::memcpy(out, table.rows[size_t(place)], bytes);
    }
  });
  writer.add(channel, deltas.get(), size_t(count) * bytes, deltas);
}

std::vector<Message> CopyExchange::writeChanges() {
  ExchangeHead head;
  head.contributes = hasChanged;
  head.keys = options.keyPacking;
  std::vector<Message> payloads;
  for (int32_t s = 0; s < placement.serverCount(); ++s) {
    ExchangeWriter writer(layout, head);
    for (int32_t c = 0; hasChanged && c < layout.channelCount(); ++c) {
      const pdl_channel &channel = layout.channel(c);
      if (channel.kind == PDL_CHANNEL_DELTA)
        writer.addBlocks(s, c,
                         needsBases()
                             ? parameterOf(channel.symbol)->deltas.data()
                             : model.value(channel.symbol));
      if (channel.kind == PDL_CHANNEL_KEYS)
        writer.addKeys(c, tableOf(channel.symbol)->router.keysOf(s));
      if (channel.kind == PDL_CHANNEL_ROW_DELTA)
        addRowDeltas(*tableOf(channel.symbol), s, c, writer);
    }
    payloads.push_back(writer.finish());
    metrics.servers[s].noteRequest(payloads.back().size());
  }
  return payloads;
}

//===----------------------------------------------------------------------===//
// Responses
//===----------------------------------------------------------------------===//

Status CopyExchange::takeRows(Table &table, std::span<const int64_t> keys,
                              const std::byte *values) {
  PDLRT_RETURN_IF_ERROR(insertRows(table, keys));
  const pdl_symbol &symbol = descriptor.symbols[table.symbol];
  const auto count = int64_t(keys.size());
  const size_t bytes = table.copy->valueBytes();
  const RowLayout &rowLayout = table.copy->layout();
  forEachRow(count, [&](int64_t begin) {
    const int64_t part = std::min(rowsInTask, count - begin);
    // Snapshot of a save in progress.
    if (TableSnapshot *snapshot = table.copy->snapshot())
      snapshot->preserve(part, keys.data() + begin, table.rows.data() + begin);
    for (int64_t i = begin; i < begin + part; ++i) {
      const std::byte *value = values + size_t(i) * bytes;
      void *row = table.rows[size_t(i)];
      if (table.base)
        takeValues(symbol.element_type, symbol.row_width, value,
                   table.baseRows[size_t(i)], row);
      else
        std::memcpy(row, value, bytes);
      rowLayout.headerOf(table.rows[size_t(i)]).noteWrite();
    }
  });
  return {};
}

void CopyExchange::takeBlocks(Parameter &parameter, int32_t server,
                              const std::byte *values) {
  const pdl_symbol &symbol = descriptor.symbols[parameter.symbol];
  const size_t rowBytes = size_t(symbol.row_width) * elementSize(symbol);
  auto *copy = static_cast<std::byte *>(model.value(parameter.symbol));
  auto *base = static_cast<std::byte *>(parameter.base.data());
  for (const RowBlock &rows : placement.rowsOf(parameter.symbol, server)) {
    const size_t at = size_t(rows.firstRow) * rowBytes,
                 bytes = size_t(rows.rowCount) * rowBytes;
    if (parameter.hasBase)
      takeValues(symbol.element_type, rows.rowCount * symbol.row_width, values,
                 base + at, copy + at);
    else
      std::memcpy(copy + at, values, bytes);
    values += bytes;
  }
}

Status CopyExchange::takeResponses(std::vector<Message> responses) {
  const TraceSpan span("pull");
  for (int32_t s = 0; s < placement.serverCount(); ++s) {
    metrics.servers[s].noteResponse(responses[s].size());
    const Expected<ExchangeMessage> message =
        layout.takeResponse(ExchangeForm::State, s, responses[s], {});
    if (!message)
      return Status(message.status())
          .withContext("the response of " + servers.session(s).name());
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const pdl_channel &channel = layout.channel(c);
      const std::byte *from = message->section(c).data();
      if (message->sectionSize(c) == 0)
        continue;
      if (channel.kind == PDL_CHANNEL_VALUE)
        takeBlocks(*parameterOf(channel.symbol), s, from);
      if (channel.kind == PDL_CHANNEL_ROWS)
        PDLRT_RETURN_IF_ERROR(
            takeRows(*tableOf(channel.symbol),
                     message->sectionOf<int64_t>(layout.keysOf(c)), from));
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

Status CopyExchange::exchange() {
  const TraceSpan span("exchange");
  stopwatch.lap();
  for (Parameter &parameter : parameters)
    if (hasChanged && parameter.hasBase)
      takeDeltasOf(parameter);
  for (Table &table : tables) {
    PDLRT_RETURN_IF_ERROR(compact(table.noted));
    PDLRT_RETURN_IF_ERROR(insertRows(table, table.noted));
    table.router.assign(placement, table.symbol, int64_t(table.noted.size()),
                        table.noted.data());
  }
  std::vector<Message> payloads = [&] {
    const TraceSpan pushing("push");
    return writeChanges();
  }();
  hasChanged = false;
  for (Table &table : tables) {
    if (table.base) {
      table.drifted.insert(table.drifted.end(), table.noted.begin(),
                           table.noted.end());
      PDLRT_RETURN_IF_ERROR(compactAt(table.drifted, table.compactDriftedAt));
    }
    table.noted.clear();
  }
  metrics.serialize += stopwatch.lap();
  Expected<std::vector<Message>> responses = [&] {
    const TraceSpan waiting("wait for servers");
    return servers.sendAll(MessageKind::Exchange, std::move(payloads));
  }();
  metrics.wait += stopwatch.lap();
  if (!responses)
    return responses.status();
  Status status = takeResponses(std::move(*responses));
  metrics.serialize += stopwatch.lap();
  return status;
}

/// Resets parameters with a base to the values that the servers have sent last.
/// `settle` resets rows itself.
void CopyExchange::returnToBase() {
  for (Parameter &parameter : parameters) {
    const pdl_symbol &symbol = descriptor.symbols[parameter.symbol];
    if (parameter.hasBase)
      std::memcpy(model.value(parameter.symbol), parameter.base.data(),
                  size_t(elementCount(symbol)) * elementSize(symbol));
  }
}

Status CopyExchange::settle(const std::function<Status()> &meet) {
  const TraceSpan span("merge deltas");
  PDLRT_RETURN_IF_ERROR(exchange());
  // After this, all trainers have sent their changes.
  PDLRT_RETURN_IF_ERROR(meet());
  PDLRT_RETURN_IF_ERROR(exchange());
  if (needsBases()) {
    returnToBase();
    for (Table &table : tables) {
      PDLRT_RETURN_IF_ERROR(compact(table.drifted));
      PDLRT_RETURN_IF_ERROR(insertRows(table, table.drifted));
      const auto count = int64_t(table.drifted.size());
      forEachRow(count, [&](int64_t begin) {
        const int64_t part = std::min(rowsInTask, count - begin);
        if (TableSnapshot *snapshot = table.copy->snapshot())
          snapshot->preserve(part, table.drifted.data() + begin,
                             table.rows.data() + begin);
        for (int64_t i = begin; i < begin + part; ++i) {
          std::memcpy(table.rows[size_t(i)], table.baseRows[size_t(i)],
                      table.copy->valueBytes());
          table.copy->layout().headerOf(table.rows[size_t(i)]).noteWrite();
        }
      });
      table.drifted.clear();
    }
  }
  // No trainer may change anything before all have reached this point.
  return meet();
}
