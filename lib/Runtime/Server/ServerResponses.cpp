//===- ServerResponses.cpp - Values and rows in responses -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ServerResponses.h"

#include "pdlrt/Core/Trace.h"

#include <cstring>

using namespace pdlrt;

void ServerResponses::addValues(const ExchangeLayout &layout, int32_t channel,
                                bool frozen, ParameterCopies &copies,
                                ExchangeWriter &writer) {
  const int32_t symbol = layout.channel(channel).symbol;
  const size_t bytes = layout.sectionBytes(state.rank(), channel);
  if (!copies[symbol]) {
    copies[symbol] = state.pool.take(bytes);
    if (bytes > 0)
      std::memcpy(copies[symbol].get(), state.model.parameters(frozen)[symbol],
                  bytes);
  }
  writer.add(channel, copies[symbol].get(), bytes, copies[symbol]);
}

/// Keeps a buffer of a response without a copy.
static void noteSeen(const std::shared_ptr<std::byte> &buffer, size_t bytes,
                     std::shared_ptr<std::byte> &place, Seen &seen) {
  place = buffer;
  seen.bytes += int64_t(bytes);
}

/// Builds the response to one sender, whose rows have been copied.
Message ServerResponses::stateResponse(const ExchangeLayout &layout,
                                       const StateFor &to,
                                       const RowCopies &rowCopies,
                                       ParameterCopies &copies) {
  const StepOutcome &outcome = *to.outcome;
  ExchangeHead head;
  head.contributes = outcome.sums.has_value();
  head.stopRequested = outcome.stop;
  head.saveRequested = outcome.save;
  head.allValues = to.allValues;
  head.contributors = outcome.contributors;
  head.withoutParameters = to.withoutParameters;
  ExchangeWriter writer(layout, head);
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    if (channel.kind == PDL_CHANNEL_VALUE && !head.withoutParameters &&
        (head.allValues ||
         (outcome.applied && updateOf(layout, channel.symbol) >= 0))) {
      addValues(layout, c, /*frozen=*/false, copies, writer);
      if (to.seen && state.descriptor.symbols[channel.symbol].late_dense_kernel)
        noteSeen(copies[channel.symbol], layout.sectionBytes(state.rank(), c),
                 to.seen->values[channel.symbol], *to.seen);
    }
    if (channel.kind == PDL_CHANNEL_LOSS && outcome.sums) {
      const ObjectiveSums &sums = (*outcome.sums)[layout.objectiveOf(c)];
      const double loss[] = {sums.loss, sums.weight};
      writer.addCopy(c, loss, sizeof(loss));
    }
    if (channel.kind == PDL_CHANNEL_ROWS && to.pulled->program >= 0) {
      const std::shared_ptr<std::byte> &buffer = rowCopies[layout.keysOf(c)];
      const size_t bytes = size_t(to.pulled->keyCount(layout.keysOf(c))) *
                           layout.sectionBytes(state.rank(), c);
      writer.add(c, buffer.get(), bytes, buffer);
      if (to.seen && state.descriptor.symbols[channel.symbol].late_row_kernel)
        noteSeen(buffer, bytes, to.seen->rows[layout.keysOf(c)], *to.seen);
    }
  }
  return writer.finish();
}

std::vector<Message>
ServerResponses::stateResponses(const ExchangeLayout &layout,
                                const std::vector<StateFor> &to) {
  const TraceSpan span("respond");
  std::vector<Pulled *> senders;
  for (const StateFor &each : to)
    senders.push_back(each.pulled);
  // Copy all rows first, in one parallel loop.
  std::vector<RowCopies> rowCopies(senders.size());
  for (size_t s = 0; s < senders.size(); ++s) {
    rowCopies[s].resize(layout.channelCount());
    for (int32_t c = 0; c < layout.channelCount(); ++c)
      if (layout.channel(c).kind == PDL_CHANNEL_ROWS &&
          senders[s]->program >= 0)
        rowCopies[s][layout.keysOf(c)] =
            state.pool.take(size_t(senders[s]->keyCount(layout.keysOf(c))) *
                            layout.sectionBytes(state.rank(), c));
  }
  rows.copyTo(senders, rowCopies);
  ParameterCopies copies(state.descriptor.symbol_count);
  std::vector<Message> responses;
  for (size_t s = 0; s < to.size(); ++s)
    responses.push_back(stateResponse(layout, to[s], rowCopies[s], copies));
  return responses;
}
