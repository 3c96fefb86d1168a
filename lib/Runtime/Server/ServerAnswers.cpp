//===- ServerAnswers.cpp - Values and rows for trainers -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/StateServer.h"

#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/FallibleTasks.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

void StateServer::addValues(const ExchangeLayout &layout, int32_t channel,
                            bool frozen, Snapshot &snapshot,
                            ExchangeWriter &writer) {
  const int32_t symbol = layout.channel(channel).symbol;
  const size_t bytes = layout.sectionBytes(rank(), channel);
  if (!snapshot[symbol]) {
    snapshot[symbol] = pool.take(bytes);
    if (bytes > 0)
      std::memcpy(snapshot[symbol].get(), ownModel.parameters(frozen)[symbol],
                  bytes);
  }
  writer.add(channel, snapshot[symbol].get(), bytes, snapshot[symbol]);
}

/// The buffers of an answer are kept, not copied.
void StateServer::noteSeen(const std::shared_ptr<std::byte> &buffer,
                           size_t bytes, std::shared_ptr<std::byte> &place,
                           Seen &seen) {
  place = buffer;
  seen.bytes += int64_t(bytes);
}

std::vector<Message> StateServer::answerState(const ExchangeLayout &layout,
                                              const std::vector<StateFor> &to) {
  const TraceSpan span("answer");
  std::vector<Pulled *> senders;
  for (const StateFor &each : to)
    senders.push_back(each.pulled);
  // Rows first, all at once.
  std::vector<std::vector<std::shared_ptr<std::byte>>> rows(senders.size());
  for (size_t s = 0; s < senders.size(); ++s) {
    rows[s].resize(layout.channelCount());
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_ROWS &&
          senders[s]->program >= 0)
        rows[s][layout.keysOf(c)] =
            pool.take(size_t(senders[s]->keyCount(layout.keysOf(c))) *
                      layout.sectionBytes(rank(), c));
  }
  splitKeys(senders);
  if (scratch.size() < keyTasks.size())
    scratch.resize(keyTasks.size());
  fallibleFor(scheduler, int64_t(keyTasks.size()), [&](int64_t index) {
    const KeyTask &task = keyTasks[index];
    Pulled &pulled = *senders[task.sender];
    const EmbeddingTable &table =
        *ownModel.table(layout.channel(task.channel).symbol);
    std::byte *out = rows[task.sender][task.channel].get();
    if (!out)
      return;
    const size_t bytes = table.valueBytes();
    void **found = pulled.rows[task.channel].data();
    const bool findsNow = table.options().life.makesRowsInUpdates();
    const int64_t *keys =
        pulled.message->sectionOf<int64_t>(task.channel).data();
    if (findsNow)
      table.find(task.end - task.begin, keys + task.begin, found + task.begin,
                 scratch[index]);
    for (int64_t i = task.begin; i < task.end; ++i) {
      std::byte *to = out + size_t(i) * bytes;
      if (found[i])
        std::memcpy(to, found[i], bytes);
      else
        table.initialValue(keys[i], to);
    }
  });

  Snapshot snapshot(descriptor.symbol_count);
  std::vector<Message> answers;
  for (size_t s = 0; s < to.size(); ++s) {
    const StepOutcome &outcome = *to[s].outcome;
    ExchangeHead head;
    head.contributes = outcome.sums.has_value();
    head.stopRequested = outcome.stop;
    head.saveRequested = outcome.save;
    head.allValues = to[s].allValues;
    head.contributors = outcome.contributors;
    head.withoutParameters = to[s].withoutParameters;
    ExchangeWriter writer(layout, head);
    for (int32_t c = 0; c < layout.channelCount(); ++c) {
      const pdl_channel &channel = layout.channel(c);
      if (channel.kind == PDL_CHANNEL_VALUE && !head.withoutParameters &&
          (head.allValues ||
           (outcome.applied && updateOf(layout, channel.symbol) >= 0))) {
        addValues(layout, c, /*frozen=*/false, snapshot, writer);
        if (to[s].seen && descriptor.symbols[channel.symbol].late_dense_kernel)
          noteSeen(snapshot[channel.symbol], layout.sectionBytes(rank(), c),
                   to[s].seen->values[channel.symbol], *to[s].seen);
      }
      if (channel.kind == PDL_CHANNEL_LOSS && outcome.sums) {
        const ObjectiveSums &sums = (*outcome.sums)[layout.objectiveOf(c)];
        const double loss[] = {sums.loss, sums.weight};
        writer.addCopy(c, loss, sizeof(loss));
      }
      if (channel.kind == PDL_CHANNEL_ROWS && senders[s]->program >= 0) {
        const std::shared_ptr<std::byte> &buffer = rows[s][layout.keysOf(c)];
        const size_t bytes = size_t(senders[s]->keyCount(layout.keysOf(c))) *
                             layout.sectionBytes(rank(), c);
        writer.add(c, buffer.get(), bytes, buffer);
        if (to[s].seen && descriptor.symbols[channel.symbol].late_row_kernel)
          noteSeen(buffer, bytes, to[s].seen->rows[layout.keysOf(c)],
                   *to[s].seen);
      }
    }
    answers.push_back(writer.finish());
  }
  return answers;
}
