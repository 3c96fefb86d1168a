//===- StateDigest.cpp - Hash of a model's state --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/StateDigest.h"

#include "pdlrt/Abi/Descriptor.h"

#include <vector>
#include <xxhash.h>

using namespace pdlrt;

uint64_t pdlrt::digestOfState(const Model &model) {
  const pdl_descriptor &descriptor = model.descriptor();
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  RowList rows;
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    if (const EmbeddingTable *table = model.table(s)) {
      for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
        table->collectShard(shard, rows);
        for (const TableRow &row : rows) {
          XXH3_64bits_update(&state, &row.key, sizeof(row.key));
          XXH3_64bits_update(&state, row.row, table->rowBytes());
        }
      }
      continue;
    }
    if (model.heldElements(s) == 0)
      continue;
    for (int32_t part = 0; part <= descriptor.symbols[s].slot_count; ++part)
      XXH3_64bits_update(&state, model.part(s, part),
                         size_t(model.heldElements(s, part)) *
                             elementSize(descriptor.symbols[s]));
  }
  for (int32_t g = 0; g < descriptor.group_count; ++g) {
    const int64_t steps = model.stepCount(g);
    XXH3_64bits_update(&state, &steps, sizeof(steps));
  }
  return XXH3_64bits_digest(&state);
}
