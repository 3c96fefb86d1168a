//===- KeyRouter.cpp - Partitions the keys of a lookup by server ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ExchangeCodec.h"

#include <algorithm>

using namespace pdlrt;

void KeyRouter::assign(const Placement &placement, int32_t table, int64_t count,
                       const int64_t *keys) {
  constexpr int shards = pdlabi::logicalShardCount;
  auto *outKeys = sorted.reserveFor<int64_t>(count);
  auto *outPlaces = places.reserveFor<int32_t>(count);
  // `shardSplits`: number of keys in each shard. `shardNext`: position in the
  // output at which the next key of each shard is written.
  shardSplits.assign(shards, 0);
  for (int64_t i = 0; i < count; ++i)
    ++shardSplits[pdlabi::shardOfKey(keys[i])];
  shardNext.resize(shards);
  splits.assign(placement.serverCount() + 1, 0);
  int64_t next = 0;
  for (int32_t server = 0; server < placement.serverCount(); ++server) {
    for (int64_t shard : placement.unitsOf(table, server)) {
      shardNext[shard] = next;
      next += shardSplits[shard];
    }
    splits[server + 1] = next;
  }
  for (int64_t i = 0; i < count; ++i)
    outPlaces[shardNext[pdlabi::shardOfKey(keys[i])]++] = int32_t(i);
  for (int shard = 0; shard < shards; ++shard) {
    int32_t *end = outPlaces + shardNext[shard];
    std::sort(end - shardSplits[shard], end,
              [keys](int32_t a, int32_t b) { return keys[a] < keys[b]; });
  }
  for (int64_t i = 0; i < count; ++i)
    outKeys[i] = keys[outPlaces[i]];
}
