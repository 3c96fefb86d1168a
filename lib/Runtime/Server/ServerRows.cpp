//===- ServerRows.cpp - The rows of the keys of a step --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/StateServer.h"

#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

using namespace pdlrt;

std::vector<int64_t> StateServer::pushedRows(const ExchangeLayout &layout,
                                             const Pulled &pulled) const {
  std::vector<int64_t> counts(layout.channelCount());
  if (pulled.program != layout.programIndex())
    return counts;
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_ROW_GRADIENT)
      counts[c] = pulled.keyCount(layout.keysOf(c));
  return counts;
}

std::vector<int64_t> StateServer::pushedRows(const ExchangeLayout &layout,
                                             const ExchangeMessage &message) {
  std::vector<int64_t> counts(layout.channelCount());
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_ROW_GRADIENT)
      counts[c] =
          int64_t(message.sectionSize(layout.keysOf(c)) / sizeof(int64_t));
  return counts;
}

int32_t StateServer::updateOf(const ExchangeLayout &layout,
                              int32_t symbol) const {
  const pdl_program &program = layout.program();
  for (int32_t i = 0; i < program.update_count; ++i)
    if (program.updates[i].symbol == symbol)
      return i;
  return -1;
}

void StateServer::splitKeys(const std::vector<Pulled *> &senders) {
  keyTasks.clear();
  for (size_t s = 0; s < senders.size(); ++s) {
    const Pulled &pulled = *senders[s];
    if (pulled.program < 0)
      continue;
    const ExchangeLayout &layout = layouts[pulled.program];
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      if (layout.channel(c).kind != PDL_CHANNEL_KEYS)
        continue;
      const int64_t count = pulled.keyCount(c);
      for (int64_t begin = 0; begin < count; begin += keysInTask)
        keyTasks.push_back(
            {s, c, begin, std::min(count, begin + keysInTask), {}});
    }
  }
}

Status StateServer::insertKeys(const std::vector<Pulled *> &senders) {
  const TraceSpan span("find keys");
  for (Pulled *pulled : senders) {
    if (pulled->program < 0)
      continue;
    const ExchangeLayout &layout = layouts[pulled->program];
    pulled->rows.resize(layout.channelCount());
    pulled->fresh.resize(layout.channelCount());
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_KEYS)
        pulled->rows[c].resize(pulled->keyCount(c));
  }
  splitKeys(senders);
  if (scratch.size() < keyTasks.size())
    scratch.resize(keyTasks.size());
  statuses.assign(keyTasks.size(), Status());
  scheduler.parallelFor(int64_t(keyTasks.size()), [&](int64_t index) {
    KeyTask &task = keyTasks[index];
    insertRange(task, *senders[task.sender], scratch[index], statuses[index]);
  });
  for (const KeyTask &task : keyTasks) {
    std::vector<TableRow> &fresh = senders[task.sender]->fresh[task.channel];
    fresh.insert(fresh.end(), task.fresh.begin(), task.fresh.end());
  }
  for (Status &status : statuses)
    if (!status.ok())
      return std::move(status);
  return {};
}

void StateServer::insertRange(KeyTask &task, Pulled &pulled, TableScratch &own,
                              Status &status) {
  const ExchangeLayout &layout = layouts[pulled.program];
  EmbeddingTable &table = *ownModel.table(layout.channel(task.channel).symbol);
  // Updates make the rows; what is read is found when it is answered.
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
    status = outOfMemory(error, "made rows of @" + table.options().name);
  }
  // The task goes before the scratch memory.
  own.newRows = nullptr;
}

bool StateServer::updatesAllRows(int32_t symbol) const {
  const int32_t group = descriptor.symbols[symbol].group;
  return group >= 0 &&
         descriptor.groups[group].untouched == PDL_UNTOUCHED_DENSE;
}

std::vector<std::span<const TableRow>>
StateServer::preparedRows(int32_t symbol) const {
  std::vector<std::span<const TableRow>> lists;
  for (const Pulled *pulled : pendingKeys())
    for (size_t c = 0; c < pulled->fresh.size(); ++c)
      if (!pulled->fresh[c].empty() &&
          layouts[pulled->program].channel(int32_t(c)).symbol == symbol)
        lists.emplace_back(pulled->fresh[c]);
  return lists;
}

void StateServer::listPrepared(const Visit &visit) const {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s)
    for (const std::span<const TableRow> rows : preparedRows(s))
      for (const TableRow &row : rows)
        visit(s, row);
}

void StateServer::renewRows(const Pulled &pulled) {
  for (size_t c = 0; c < pulled.fresh.size(); ++c)
    for (const TableRow &row : pulled.fresh[c]) {
      const int32_t symbol = layouts[pulled.program].channel(int32_t(c)).symbol;
      if (!updatesAllRows(symbol))
        break;
      const EmbeddingTable &table = *ownModel.table(symbol);
      table.initialRow(row.key, row.row);
      table.layout().headerOf(row.row).begin(table.time());
    }
}

Contribution StateServer::contributionOf(const ExchangeLayout &layout,
                                         const ExchangeMessage &message,
                                         Pulled &pulled) {
  Contribution part;
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
    const size_t rowBytes = layout.sectionBytes(rank(), c);
    auto *base = const_cast<std::byte *>(message.section(c).data());
    for (size_t i = 0; i < keys.size(); ++i)
      pointers[i] = base + i * rowBytes;
    block.gradients = const_cast<const void *const *>(pointers.data());
  }
  return part;
}
