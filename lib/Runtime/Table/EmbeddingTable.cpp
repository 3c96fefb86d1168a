//===- EmbeddingTable.cpp - Tables: 64-bit keys to rows -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/EmbeddingTable.h"

#include "pdlabi/hash.h"
#include "pdlrt/Table/InitialValues.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <algorithm>
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

bool EmbeddingTable::isUnused(const TableRow &row,
                              std::vector<char> &initial) const {
  if (rowLayout.headerOf(row.row).uses() > 0)
    return false;
  initial.resize(bytesOfRow);
  initialRow(row.key, initial.data());
  return std::memcmp(initial.data(), row.row, bytesOfRow) == 0;
}

void EmbeddingTable::withhold(std::span<const TableRow> prepared) {
  withheldKeys.clear();
  std::vector<char> initial;
  TableScratch scratch;
  for (TableRow row : prepared)
    if ((row.row || find(1, &row.key, &row.row, scratch) == 0) &&
        isUnused(row, initial))
      withheldKeys.push_back(row.key);
  std::ranges::sort(withheldKeys);
  const auto repeated = std::ranges::unique(withheldKeys);
  withheldKeys.erase(repeated.begin(), repeated.end());
}

int64_t EmbeddingTable::savedSize(int shard) const {
  return shardSize(shard) -
         std::ranges::count(withheldKeys, shard, &EmbeddingTable::shardOf);
}

void EmbeddingTable::collectSaved(int shard, SavedRows which,
                                  RowList &rows) const {
  if (which == SavedRows::Changed)
    collectChanged(shard, rows);
  else
    collectShard(shard, rows);
  if (!withheldKeys.empty())
    std::erase_if(rows, [&](const TableRow &row) {
      return std::ranges::binary_search(withheldKeys, row.key);
    });
}

TableSnapshot &EmbeddingTable::beginSnapshot(size_t maxBytes, SavedRows saved) {
  if (!ownSnapshot)
    ownSnapshot = std::make_unique<TableSnapshot>(*this);
  ownSnapshot->begin(maxBytes, saved);
  openSnapshot.store(ownSnapshot.get(), std::memory_order_release);
  return *ownSnapshot;
}

void EmbeddingTable::endSnapshot() {
  openSnapshot.store(nullptr, std::memory_order_release);
  ownSnapshot->end();
}

int EmbeddingTable::shardOf(int64_t key) { return pdlabi::shardOfKey(key); }

int64_t EmbeddingTable::findFrozen(int64_t count, const int64_t *keys,
                                   void **rows, TableScratch &scratch,
                                   RowImages &images) const {
  const int64_t missing = look(count, keys, rows, scratch, images);
  if (const size_t offset = frozenOffset())
    for (int64_t i = 0; i < count; ++i)
      if (rows[i])
        rows[i] = static_cast<char *>(rows[i]) + offset;
  return missing;
}

void EmbeddingTable::initialFrozen(int64_t key, void *value) const {
  tableOptions.initialFrozen(key, value);
}

/// Six keys take 64 bytes, of which four fifths are used.
static constexpr size_t bytesOfKey = 14;

size_t EmbeddingTable::bytesOfHeldRow() const {
  return rowLayout.stride() + sizeof(RowHeader) + bytesOfKey;
}

size_t EmbeddingTable::bytesInUse() const {
  const int64_t held = heldRows();
  return size_t(held) * bytesOfHeldRow() + size_t(waitingCount()) * bytesOfKey +
         size_t(size() - held) * bytesOfEvictedRow();
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
