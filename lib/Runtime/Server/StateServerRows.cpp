//===- StateServerRows.cpp - Rows of the keys of a step -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/StateServerRows.h"

#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/FallibleTasks.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

using namespace pdlrt;

StateServerRows::StateServerRows(OwnedState &state) : state(state) {
  state.model.setPrepared(this);
}

std::vector<int64_t> StateServerRows::pushedRows(const ExchangeLayout &layout,
                                                 const Pulled &pulled) {
  std::vector<int64_t> counts(layout.channelCount());
  if (pulled.program != layout.programIndex())
    return counts;
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_ROW_GRADIENT)
      counts[c] = pulled.keyCount(layout.keysOf(c));
  return counts;
}

std::vector<int64_t>
StateServerRows::pushedRows(const ExchangeLayout &layout,
                            const ExchangeMessage &message) {
  std::vector<int64_t> counts(layout.channelCount());
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_ROW_GRADIENT)
      counts[c] =
          int64_t(message.sectionSize(layout.keysOf(c)) / sizeof(int64_t));
  return counts;
}

void StateServerRows::split(const std::vector<Pulled *> &senders) {
  tasks.clear();
  for (size_t s = 0; s < senders.size(); ++s) {
    const Pulled &pulled = *senders[s];
    if (pulled.program < 0)
      continue;
    const ExchangeLayout &layout = state.layouts[pulled.program];
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      if (layout.channel(c).kind != PDL_CHANNEL_KEYS)
        continue;
      const int64_t count = pulled.keyCount(c);
      for (int64_t begin = 0; begin < count; begin += keysInTask)
        tasks.push_back({s, c, begin, std::min(count, begin + keysInTask), {}});
    }
  }
}

Status StateServerRows::insert(const std::vector<Pulled *> &senders) {
  const TraceSpan span("find keys");
  for (Pulled *pulled : senders) {
    if (pulled->program < 0)
      continue;
    const ExchangeLayout &layout = state.layouts[pulled->program];
    pulled->rows.resize(layout.channelCount());
    pulled->fresh.resize(layout.channelCount());
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_KEYS)
        pulled->rows[c].resize(pulled->keyCount(c));
  }
  split(senders);
  if (scratch.size() < tasks.size())
    scratch.resize(tasks.size());
  statuses.assign(tasks.size(), Status());
  state.scheduler.parallelFor(int64_t(tasks.size()), [&](int64_t index) {
    KeyTask &task = tasks[index];
    insertRange(task, *senders[task.sender], scratch[index], statuses[index]);
  });
  for (const KeyTask &task : tasks) {
    std::vector<TableRow> &fresh = senders[task.sender]->fresh[task.channel];
    fresh.insert(fresh.end(), task.fresh.begin(), task.fresh.end());
  }
  for (Status &status : statuses)
    if (!status.ok())
      return std::move(status);
  return {};
}

void StateServerRows::insertRange(KeyTask &task, Pulled &pulled,
                                  TableScratch &own, Status &status) {
  const ExchangeLayout &layout = state.layouts[pulled.program];
  EmbeddingTable &table =
      *state.model.table(layout.channel(task.channel).symbol);
  // Rows of this table are only created by updates. The rows to read are looked
  // up when the response is built.
  if (table.options().life.makesRowsInUpdates())
    return;
  const int64_t count = task.end - task.begin;
  const int64_t *keys =
      pulled.message->sectionOf<int64_t>(task.channel).data() + task.begin;
  void **rows = pulled.rows[task.channel].data() + task.begin;
  int64_t inserted = 0;
  try {
    own.newRows = &task.fresh;
    status = table.findOrInsert(count, keys, rows, own, inserted);
  } catch (const std::bad_alloc &error) {
    status = state.outOfMemory(error, "made rows of @" + table.options().name);
  }
  // The task is destroyed before the scratch memory.
  own.newRows = nullptr;
}

void StateServerRows::copyTo(
    const std::vector<Pulled *> &senders,
    const std::vector<std::vector<std::shared_ptr<std::byte>>> &out) {
  split(senders);
  if (scratch.size() < tasks.size())
    scratch.resize(tasks.size());
  fallibleFor(state.scheduler, int64_t(tasks.size()), [&](int64_t index) {
    const KeyTask &task = tasks[index];
    if (std::byte *to = out[task.sender][task.channel].get())
      copyRange(task, *senders[task.sender], to, scratch[index]);
  });
}

void StateServerRows::copyRange(const KeyTask &task, Pulled &pulled,
                                std::byte *out, TableScratch &own) {
  const int32_t symbol =
      state.layouts[pulled.program].channel(task.channel).symbol;
  const EmbeddingTable &table = *state.model.table(symbol);
  const size_t bytes = table.valueBytes();
  void **found = pulled.rows[task.channel].data();
  const bool findsNow = table.options().life.makesRowsInUpdates();
  const int64_t *keys = pulled.message->sectionOf<int64_t>(task.channel).data();
  if (findsNow)
    table.find(task.end - task.begin, keys + task.begin, found + task.begin,
               own);
  for (int64_t i = task.begin; i < task.end; ++i) {
    std::byte *to = out + size_t(i) * bytes;
    if (found[i])
      std::memcpy(to, found[i], bytes);
    else
      table.initialValue(keys[i], to);
  }
}

bool StateServerRows::updatesAllRows(int32_t symbol) const {
  const int32_t group = state.descriptor.symbols[symbol].group;
  return group >= 0 &&
         state.descriptor.groups[group].untouched == PDL_UNTOUCHED_DENSE;
}

std::vector<std::span<const TableRow>>
StateServerRows::prepared(int32_t symbol) const {
  std::vector<std::span<const TableRow>> lists;
  for (const Pulled *pulled : pendingKeys())
    for (size_t c = 0; c < pulled->fresh.size(); ++c)
      if (!pulled->fresh[c].empty() &&
          state.layouts[pulled->program].channel(int32_t(c)).symbol == symbol)
        lists.emplace_back(pulled->fresh[c]);
  return lists;
}

void StateServerRows::listPrepared(const Visit &visit) const {
  for (int32_t s = 0; s < state.descriptor.symbol_count; ++s)
    for (const std::span<const TableRow> rows : prepared(s))
      for (const TableRow &row : rows)
        visit(s, row);
}

void StateServerRows::renew(const Pulled &pulled) {
  for (size_t c = 0; c < pulled.fresh.size(); ++c)
    for (const TableRow &row : pulled.fresh[c]) {
      const int32_t symbol =
          state.layouts[pulled.program].channel(int32_t(c)).symbol;
      if (!updatesAllRows(symbol))
        break;
      const EmbeddingTable &table = *state.model.table(symbol);
      table.initialRow(row.key, row.row);
      table.layout().headerOf(row.row).begin(table.time());
    }
}

PartialSum StateServerRows::partialSumOf(const ExchangeLayout &layout,
                                         const ExchangeMessage &message,
                                         Pulled &pulled) const {
  PartialSum part;
  part.present = message.head().contributes;
  part.steps = message.head().steps;
  part.blocks.resize(layout.program().update_count);
  if (!part.present)
    return part;
  part.objectives.clear();
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    if (channel.kind == PDL_CHANNEL_LOSS) {
      const auto loss = message.sectionOf<double>(c);
      part.objectives.push_back({loss[0], loss[1]});
    }
    if (channel.kind == PDL_CHANNEL_GRADIENT)
      part.blocks[updateOf(layout, channel.symbol)].pieces =
          message.piecesOf(c);
    if (channel.kind != PDL_CHANNEL_ROW_GRADIENT)
      continue;
    const int32_t keysChannel = layout.keysOf(c);
    const auto keys = pulled.message->sectionOf<int64_t>(keysChannel);
    BlockGradient &block = part.blocks[updateOf(layout, channel.symbol)];
    block.keyCount = int64_t(keys.size());
    block.keys = keys.data();
    block.rows = pulled.rows[keysChannel].data();
    std::vector<void *> &pointers = pulled.rows[c];
    pointers.resize(keys.size());
    const size_t rowBytes = layout.sectionBytes(state.rank(), c);
    auto *base = const_cast<std::byte *>(message.section(c).data());
    for (size_t i = 0; i < keys.size(); ++i)
      pointers[i] = base + i * rowBytes;
    block.gradients = const_cast<const void *const *>(pointers.data());
  }
  return part;
}
