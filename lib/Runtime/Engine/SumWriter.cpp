//===- SumWriter.cpp - Writes gradients into messages ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/SumWriter.h"

#include "pdlrt/Abi/Descriptor.h"

#include <cstring>

using namespace pdlrt;

void SumWriter::begin(const ExchangeLayout &layout, const PartialSum &sum,
                      ExchangeHead &head) {
  if (!packer)
    return;
  head.gradients = packer->packing();
  // Parameters are packed once for all servers.
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    const pdl_channel &channel = layout.channel(c);
    if (channel.kind == PDL_CHANNEL_GRADIENT)
      packer->pack(channel.symbol,
                   static_cast<const float *>(
                       sum.blocks[layout.updateOf(channel.symbol)].dense),
                   elementCount(layout.symbolOf(c)));
  }
}

void SumWriter::add(const ExchangeLayout &layout, int32_t server,
                    int32_t number, const PartialSum &sum,
                    std::span<const KeyRouter> routers,
                    const std::shared_ptr<const void> &owner,
                    ExchangeWriter &writer) {
  const pdl_channel &channel = layout.channel(number);
  if (channel.kind == PDL_CHANNEL_LOSS) {
    const ObjectiveSums &sums = sum.objectives[layout.objectiveOf(number)];
    const double loss[] = {sums.loss, sums.weight};
    writer.addCopy(number, loss, sizeof(loss));
    return;
  }
  if (channel.kind != PDL_CHANNEL_GRADIENT &&
      channel.kind != PDL_CHANNEL_ROW_GRADIENT)
    return;
  const BlockGradient &block = sum.blocks[layout.updateOf(channel.symbol)];
  if (channel.kind == PDL_CHANNEL_GRADIENT) {
    if (packer)
      packer->addBlocks(layout, server, number, writer);
    else
      writer.addBlocks(server, number, block.dense, owner);
    return;
  }
  const std::span<const int32_t> places =
      routers[layout.lookupOf(channel.symbol)].placesOf(server);
  if (packer) {
    packer->addRows(layout.symbolOf(number), number, places, block.gradients,
                    writer);
    return;
  }
  const size_t bytes = layout.sectionBytes(server, number);
  const std::shared_ptr<std::byte> rows = pool.take(places.size() * bytes);
  for (size_t i = 0; i < places.size(); ++i)
    std::memcpy(rows.get() + i * bytes, block.gradients[places[i]], bytes);
  writer.add(number, rows.get(), places.size() * bytes, rows);
}
