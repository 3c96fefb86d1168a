//===- EmbeddingTable.cpp - What all tables share -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/EmbeddingTable.h"

#include "pdlabi/hash.h"
#include "pdlrt/Table/InitialValues.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

EmbeddingTable::EmbeddingTable(TableOptions options)
    : tableOptions(std::move(options)),
      bytesOfValue(tableOptions.width * elementSize(tableOptions.elementType)),
      bytesOfRow(bytesOfValue * (1 + tableOptions.slotInitialValues.size() -
                                 tableOptions.rowSlotCount) +
                 elementSize(tableOptions.elementType) *
                     tableOptions.rowSlotCount),
      rowLayout(std::max<size_t>(1, bytesOfRow),
                std::max<size_t>(sizeof(RowHeader),
                                 elementSize(tableOptions.elementType))) {}

EmbeddingTable::~EmbeddingTable() = default;

int64_t EmbeddingTable::size() const {
  int64_t sum = 0;
  for (int shard = 0; shard < shardCount; ++shard)
    sum += shardSize(shard);
  return sum;
}

int EmbeddingTable::shardOf(int64_t key) { return pdlabi::shardOfKey(key); }

void EmbeddingTable::initialValue(int64_t key, void *value) const {
  fillInitialValues(tableOptions.elementType, tableOptions.initializer,
                    tableOptions.seed, tableOptions.id, key, tableOptions.width,
                    value);
}

void EmbeddingTable::initialRow(int64_t key, void *row) const {
  initialValue(key, row);
  auto *slot = static_cast<char *>(row) + bytesOfValue;
  const std::vector<double> &values = tableOptions.slotInitialValues;
  const size_t ofElements = values.size() - tableOptions.rowSlotCount;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t width = i < ofElements ? tableOptions.width : 1;
    fillConstant(tableOptions.elementType, values[i], width, slot);
    slot += width * elementSize(tableOptions.elementType);
  }
  if (tableOptions.frozenPart > 0)
    std::memcpy(static_cast<char *>(row) + frozenOffset(), row, bytesOfValue);
}
