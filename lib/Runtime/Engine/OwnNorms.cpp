//===- OwnNorms.cpp - Norms computed by the sender ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/OwnNorms.h"

#include "pdlabi/norm.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <algorithm>

using namespace pdlrt;

template <typename T>
static double partialNorm(const void *values, int64_t count, double weight) {
  pdlabi::SquaredNormUnit unit;
  unit.add(static_cast<const T *>(values), count, weight);
  return unit.partial();
}

std::vector<double> pdlrt::ownNorms(const pdl_descriptor &descriptor,
                                    const ExchangeLayout &layout,
                                    const PartialSum &sum,
                                    std::span<const KeyRouter> routers) {
  const Placement &placement = layout.placement();
  std::vector<double> norms(layout.channelCount());
  std::vector<pdlabi::SquaredNormUnit> shards;
  for (int32_t n = 0; n < layout.channelCount(); ++n) {
    if (layout.channel(n).kind != PDL_CHANNEL_NORM)
      continue;
    for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
      const pdl_symbol &symbol = descriptor.symbols[s];
      const bool isTable = symbol.kind == PDL_SYMBOL_TABLE;
      const bool isFloat = symbol.element_type == PDL_F32;
      const size_t size = elementSize(symbol);
      if (layout.clipOf(s) != layout.channel(n).clip)
        continue;
      const int32_t update = layout.updateOf(s);
      const BlockGradient &block = sum.blocks[update];
      const double weight =
          sum.objectives[layout.program().updates[update].objective].weight;
      if (!(weight > 0))
        continue;
      if (!isTable) {
        const int64_t count = elementCount(symbol);
        const int64_t unit = pdlabi::rowsInNormUnit * symbol.row_width;
        for (int64_t begin = 0; begin < count; begin += unit)
          norms[n] +=
              (isFloat ? partialNorm<float>
                       : partialNorm<double>)(static_cast<const char *>(
                                                  block.dense) +
                                                  begin * size,
                                              std::min(unit, count - begin),
                                              weight);
        continue;
      }
      // The keys of a server are in the order of (shard, key).
      shards.assign(EmbeddingTable::shardCount, {});
      const KeyRouter &keys = routers[layout.lookupOf(s)];
      for (int32_t server = 0; server < placement.serverCount(); ++server)
        for (int32_t place : keys.placesOf(server)) {
          pdlabi::SquaredNormUnit &shard =
              shards[EmbeddingTable::shardOf(block.keys[place])];
          const void *row = block.gradients[place];
          if (isFloat)
            shard.add(static_cast<const float *>(row), symbol.row_width,
                      weight);
          else
            shard.add(static_cast<const double *>(row), symbol.row_width,
                      weight);
        }
      for (const pdlabi::SquaredNormUnit &shard : shards)
        norms[n] += shard.partial();
    }
  }
  return norms;
}
