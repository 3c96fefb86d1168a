//===- ModelBytes.h - State of a model, for comparison ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_MODELBYTES_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_MODELBYTES_H

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/State/Model.h"

#include <vector>

/// Returns values and slots of all symbols, tables in (shard, key) order.
inline std::vector<char> stateOf(const pdlrt::Model &model) {
  using namespace pdlrt;
  const pdl_descriptor &descriptor = model.descriptor();
  std::vector<char> bytes;
  auto append = [&](const void *from, size_t size) {
    auto *begin = static_cast<const char *>(from);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    if (const EmbeddingTable *table = model.table(s)) {
      RowList rows;
      for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
        table->collectShard(shard, rows);
        for (const TableRow &row : rows) {
          append(&row.key, sizeof(row.key));
          append(row.row, table->rowBytes());
        }
      }
      continue;
    }
    const size_t size = elementCount(symbol) * elementSize(symbol);
    append(model.value(s), size);
    for (int32_t slot = 0; slot < symbol.slot_count; ++slot)
      append(model.slot(s, slot), size);
  }
  return bytes;
}

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_MODELBYTES_H
