//===- ReadService.cpp - Reads without training ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ReadService.h"

#include "Checkpoint/SymbolTensors.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/FallibleTasks.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

/// Returns those of `places` whose rows were prepared for a pending step and
/// were never used or changed. `places`: positions of keys whose rows have no
/// uses.
static std::vector<int64_t>
findPrepared(const EmbeddingTable &table,
             std::span<const std::span<const TableRow>> prepared,
             std::span<const int64_t> keys, std::span<void *const> rows,
             std::vector<int64_t> places) {
  const auto keyAt = [&](int64_t i) { return keys[size_t(i)]; };
  std::ranges::sort(places, {}, keyAt);
  std::vector<int64_t> found;
  std::vector<char> initial;
  for (const std::span<const TableRow> list : prepared)
    for (const TableRow &row : list) {
      const auto same = std::ranges::equal_range(places, row.key, {}, keyAt);
      if (!same.empty() &&
          table.isUnused({row.key, rows[size_t(same.front())]}, initial))
        found.insert(found.end(), same.begin(), same.end());
    }
  return found;
}

/// Finds the rows of keys as a save at this moment would store them. Calls
/// found(i, row) for each key, on several threads. `row` is null if the key has
/// no row, or has only a row that was prepared for a pending step and was never
/// used or changed. For such a key, `found` is called a second time, and the
/// second call counts. `row` may be a copy that is valid only during the call.
/// Throws std::bad_alloc.
template <typename Found>
void ReadService::find(int32_t symbol, std::span<const int64_t> keys,
                       Found found) {
  const EmbeddingTable &table = *state.model.table(symbol);
  const auto count = int64_t(keys.size());
  std::vector<void *> rows(keys.size());
  const std::vector<std::span<const TableRow>> prepared =
      stepRows.prepared(symbol);
  const int64_t tasks = (count + keysInTask - 1) / keysInTask;
  if (scratch.size() < size_t(tasks))
    scratch.resize(tasks);
  // Indexed by task. Only rows without uses can be prepared rows.
  std::vector<std::vector<int64_t>> withoutUses(prepared.empty() ? 0 : tasks);
  fallibleFor(state.scheduler, tasks, [&](int64_t task) {
    const int64_t begin = task * keysInTask;
    const int64_t end = std::min(count, begin + keysInTask);
    // Reading loads no rows into memory.
    RowImages images;
    table.look(end - begin, keys.data() + begin, rows.data() + begin,
               scratch[task], images);
    for (int64_t i = begin; i < end; ++i) {
      found(i, rows[i]);
      if (!prepared.empty() && rows[i] &&
          table.layout().headerOf(rows[i]).uses() == 0)
        withoutUses[task].push_back(i);
    }
  });
  std::vector<int64_t> places;
  for (const std::vector<int64_t> &ofTask : withoutUses)
    places.insert(places.end(), ofTask.begin(), ofTask.end());
  if (places.empty())
    return;
  for (const int64_t i :
       findPrepared(table, prepared, keys, rows, std::move(places)))
    found(i, nullptr);
}

Message ReadService::pull(const ExchangeMessage &message,
                          const ExchangeLayout &layout) {
  const TraceSpan span("pull");
  const int32_t channels = layout.channelCount();
  std::vector<std::vector<int64_t>> unknown(channels);
  std::vector<std::shared_ptr<std::byte>> rows(channels);
  for (int32_t c = 0; c < channels; ++c) {
    if (layout.channel(c).kind != PDL_CHANNEL_ROWS)
      continue;
    const int32_t keysChannel = layout.keysOf(c);
    const int32_t symbol = layout.channel(c).symbol;
    const EmbeddingTable &table = *state.model.table(symbol);
    const bool zero =
        state.descriptor.symbols[symbol].unknown == PDL_UNKNOWN_ZERO;
    const auto keys = message.sectionOf<int64_t>(keysChannel);
    const auto count = int64_t(keys.size());
    const size_t bytes = table.elementBytes();
    rows[c] = state.pool.take(keys.size() * bytes);
    std::vector<char> isUnknown(keys.size());
    find(symbol, keys, [&](int64_t i, const void *row) {
      std::byte *out = rows[c].get() + size_t(i) * bytes;
      isUnknown[i] = row == nullptr;
      if (row)
        table.frozenElements(row, out);
      else if (zero)
        std::memset(out, 0, bytes);
      else
        table.initialElements(keys[i], out);
    });
    for (int64_t i = 0; i < count; ++i)
      if (isUnknown[i])
        unknown[keysChannel].push_back(i);
  }
  ExchangeHead head;
  head.allValues = message.head().allValues;
  head.withoutParameters = message.head().withoutParameters;
  ParameterCopies copies(state.descriptor.symbol_count);
  ExchangeWriter writer(layout, head);
  for (int32_t c = 0; c < channels; ++c) {
    const int32_t kind = layout.channel(c).kind;
    if (kind == PDL_CHANNEL_VALUE && head.allValues && !head.withoutParameters)
      responses.addValues(layout, c, /*frozen=*/true, copies, writer);
    if (kind == PDL_CHANNEL_KEYS)
      writer.addCopy(c, unknown[c].data(), unknown[c].size() * sizeof(int64_t));
    if (kind == PDL_CHANNEL_ROWS)
      writer.add(c, rows[c].get(),
                 message.section(layout.keysOf(c)).size() / sizeof(int64_t) *
                     layout.sectionBytes(state.rank(), c),
                 rows[c]);
  }
  return writer.finish();
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

static HeldSymbol describeSymbol(const pdl_symbol &symbol, int32_t index,
                                 const Placement &placement, int32_t owner) {
  HeldSymbol held;
  held.name = symbol.name;
  held.isTable = symbol.kind == PDL_SYMBOL_TABLE;
  if (symbol.frozen_part > 0)
    held.part = symbol.slot_names[symbol.frozen_part - 1];
  if (!held.isTable) {
    held.rowBytes = uint64_t(symbol.row_width) * elementSize(symbol);
    held.rows = placement.rowsOf(index, owner);
    return held;
  }
  const TableOptions options = TableOptions::of(symbol, /*seed=*/0);
  held.storage = options.frozenStorage();
  held.rowBytes = options.frozenBytes();
  for (const int64_t shard : placement.unitsOf(index, owner))
    held.shards.set(size_t(shard));
  return held;
}

const ServerContents &ReadService::contents() {
  if (ownContents)
    return *ownContents;
  ServerContents made;
  made.model = state.descriptor.model_name;
  made.seed = state.model.seed();
  made.owner = state.handshake.serverRank;
  made.owners = state.placement.serverCount();
  for (ModelPart &part : partsOf(state.descriptor))
    if (part.kind == PDL_PART_STATE)
      made.parts.push_back(std::move(part));
  for (int32_t s = 0; s < state.descriptor.symbol_count; ++s)
    made.symbols.push_back(describeSymbol(state.descriptor.symbols[s], s,
                                          state.placement, state.rank()));
  return ownContents.emplace(std::move(made));
}

Expected<Message> ReadService::respondToVisit(const Message &payload) {
  const Expected<Visitor> visitor = decodeVisit(payload);
  if (!visitor)
    return visitor.status();
  if (visitor->model != state.descriptor.model_name)
    return Status::failedPrecondition(fmt::format(
        "the library is of model {}, the server of {}; connect to a job of the "
        "library's model",
        visitor->model, state.descriptor.model_name));
  // The state of trainers may be on devices.
  const int32_t first = state.placement.ownerOfTrainer(0);
  if (modeOf(state.descriptor).trainersOwn() && state.rank() >= first)
    return Status::failedPrecondition(
        state.name() + " takes no readers: in this mode trainers "
                       "own what is there; give the addresses of "
                       "servers alone");
  return encodeContents(contents());
}

std::vector<OwnedBytes> ReadService::heldParameters() {
  std::vector<OwnedBytes> parameters;
  for (int32_t s = 0; s < state.descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = state.descriptor.symbols[s];
    if (symbol.kind == PDL_SYMBOL_TABLE)
      continue;
    const size_t bytes =
        size_t(state.model.heldElements(s)) * elementSize(symbol);
    // Steps continue before the response is sent.
    const std::shared_ptr<std::byte> copy = state.pool.take(bytes);
    if (bytes > 0)
      std::memcpy(copy.get(), state.model.parameters(/*frozen=*/true)[s],
                  bytes);
    parameters.push_back({copy, bytes});
  }
  return parameters;
}

/// Checks that this server has the rows that a reader requests, and that there
/// are not too many.
Status ReadService::checkRead(const std::vector<KeysOfTable> &tables) {
  uint64_t allBytes = 0;
  for (const KeysOfTable &asked : tables) {
    if (asked.symbol >= contents().symbols.size() ||
        !contents().symbols[asked.symbol].isTable)
      return Status::invalidArgument(fmt::format(
          "a reader asks for rows of symbol {}, which is no table here",
          asked.symbol));
    const HeldSymbol &held = contents().symbols[asked.symbol];
    for (const int64_t key : asked.keys)
      if (!held.shards[size_t(pdlabi::shardOfKey(key))])
        return Status::notFound(fmt::format(
            "a reader asks {} for key {} of @{}, which is not there",
            state.name(), key, held.name));
    // No overflow: a row has less than 2^32 bytes, and the number of keys is
    // limited by the size of the request.
    allBytes += asked.keys.size() * held.rowBytes;
  }
  if (allBytes > maxBytesOfRows)
    return Status::invalidArgument(fmt::format(
        "a reader asks for {} bytes of rows at once, more than {}; ask for "
        "fewer",
        allBytes, maxBytesOfRows));
  return {};
}

/// Returns the rows of those keys that have one, one after the other. Sets the
/// bits of these keys in `known`.
OwnedBytes ReadService::readTable(const KeysOfTable &asked,
                                  std::vector<uint64_t> &known) {
  const auto symbol = int32_t(asked.symbol);
  const EmbeddingTable &table = *state.model.table(symbol);
  const size_t bytes = table.frozenBytes(), offset = table.frozenOffset();
  const size_t keyCount = asked.keys.size();
  const std::shared_ptr<std::byte> copied = state.pool.take(keyCount * bytes);
  const auto placeOf = [&](size_t i) { return copied.get() + i * bytes; };
  std::vector<char> isKnown(keyCount, false);
  // Copy the row during the call. If it is not in memory, `row` is a temporary
  // copy.
  find(symbol, asked.keys, [&](int64_t i, const void *row) {
    isKnown[size_t(i)] = row != nullptr;
    if (row)
      std::memcpy(placeOf(size_t(i)),
                  static_cast<const std::byte *>(row) + offset, bytes);
  });
  known.assign((keyCount + 63) / 64, 0);
  size_t count = 0;
  for (size_t i = 0; i < keyCount; ++i)
    if (isKnown[i]) {
      known[i / 64] |= uint64_t(1) << (i % 64);
      // Only known rows are sent, without gaps.
      if (count != i)
        std::memcpy(placeOf(count), placeOf(i), bytes);
      ++count;
    }
  return {copied, count * bytes};
}

Expected<Message> ReadService::respondToRead(const Message &payload) {
  const TraceSpan span("pull");
  const Expected<Decoded<ReadRequest>> request = decodeRead(payload);
  if (!request)
    return request.status();
  const std::vector<KeysOfTable> &tables = request->content.tables;
  PDLRT_RETURN_IF_ERROR(checkRead(tables));
  std::vector<std::vector<uint64_t>> known;
  std::vector<OwnedBytes> rows;
  for (const KeysOfTable &asked : tables)
    rows.push_back(readTable(asked, known.emplace_back()));
  int64_t updates = 0;
  for (int32_t g = 0; g < state.descriptor.group_count; ++g)
    updates = std::max(updates, state.model.stepCount(g));
  return encodeReadResponse(updates, known, rows,
                            request->content.withParameters
                                ? heldParameters()
                                : std::vector<OwnedBytes>());
}
