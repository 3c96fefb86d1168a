//===- EmbeddingTable.cpp - What all tables share -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/EmbeddingTable.h"

#include "pdlabi/hash.h"
#include "pdlabi/philox.h"
#include "pdlrt/Table/InitialValues.h"
#include "pdlrt/Table/TableMoment.h"

#include <cstring>

using namespace pdlrt;

EmbeddingTable::EmbeddingTable(TableOptions options)
    : tableOptions(std::move(options)), bytesOfValue(tableOptions.valueBytes()),
      bytesOfRow(tableOptions.rowBytes()), rowLayout(tableOptions.layout()) {}

EmbeddingTable::~EmbeddingTable() = default;

int64_t EmbeddingTable::size() const {
  int64_t sum = 0;
  for (int shard = 0; shard < shardCount; ++shard)
    sum += shardSize(shard);
  return sum;
}

TableMoment &EmbeddingTable::beginMoment(size_t mostBytes, SavedRows saved) {
  if (!ownMoment)
    ownMoment = std::make_unique<TableMoment>(*this);
  ownMoment->begin(mostBytes, saved);
  openMoment.store(ownMoment.get(), std::memory_order_release);
  return *ownMoment;
}

void EmbeddingTable::endMoment() {
  openMoment.store(nullptr, std::memory_order_release);
  ownMoment->end();
}

int EmbeddingTable::shardOf(int64_t key) { return pdlabi::shardOfKey(key); }

template <typename Stored>
static void fillStored(const TableOptions &options, int64_t key, void *value) {
  auto *out = static_cast<Stored *>(value);
  pdlabi::fillInitialValues(options.initializer, options.seed, options.id,
                            static_cast<uint64_t>(key), options.width, out);
  // Behind an odd number of values the word is filled with zeros.
  if (options.width % 2 != 0)
    out[options.width] = Stored();
}

void EmbeddingTable::initialValue(int64_t key, void *value) const {
  switch (tableOptions.storage) {
  case PDL_STORE_BF16:
    return fillStored<pdlabi::BFloat16>(tableOptions, key, value);
  case PDL_STORE_F16:
    return fillStored<pdlabi::Float16>(tableOptions, key, value);
  default:
    return fillInitialValues(tableOptions.elementType, tableOptions.initializer,
                             tableOptions.seed, tableOptions.id, key,
                             tableOptions.width, value);
  }
}

void EmbeddingTable::initialElements(int64_t key, void *elements) const {
  if (tableOptions.storage == PDL_STORE_ELEMENT)
    return initialValue(key, elements);
  auto *out = static_cast<float *>(elements);
  fillInitialValues(tableOptions.elementType, tableOptions.initializer,
                    tableOptions.seed, tableOptions.id, key, tableOptions.width,
                    out);
  for (int64_t i = 0; i < tableOptions.width; ++i) {
    uint16_t stored;
    storeNearest(tableOptions.storage, 1, out + i, &stored);
    widenStored(tableOptions.storage, 1, &stored, out + i);
  }
}

void EmbeddingTable::frozenElements(const void *row, void *elements) const {
  const auto *from = static_cast<const char *>(row) + frozenOffset();
  if (frozenStorage() == PDL_STORE_ELEMENT)
    std::memcpy(elements, from, elementBytes());
  else
    widenStored(frozenStorage(), tableOptions.width, from,
                static_cast<float *>(elements));
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
    initialElements(key, static_cast<char *>(row) + frozenOffset());
}
