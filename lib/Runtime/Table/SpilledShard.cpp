//===- SpilledShard.cpp - Spilled rows of a shard -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/SpilledShard.h"

#include "pdlabi/hash.h"
#include "pdlabi/table.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace pdlrt;

bool SpilledHead::isDirty() const {
  return (noted & pdlabi::HeaderBits::dirty) != 0;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Returns the number of rows in a block. A block is the value of one key in
/// RocksDB, and is read as a whole even if only one row is needed.
static uint32_t rowsOfBlock(size_t bytesOfRow) {
  constexpr size_t blockBytes = 4096, maxRows = 64;
  return uint32_t(std::clamp(blockBytes / bytesOfRow, size_t(1), maxRows));
}

BlockLayout::BlockLayout(size_t rowBytes)
    : rowBytes(rowBytes), rows(rowsOfBlock(keyBytes + headBytes + rowBytes)) {}

int64_t BlockLayout::keyAt(const char *block, uint32_t slot) const {
  int64_t key = 0;
  std::memcpy(&key, block + slot * keyBytes, keyBytes);
  return key;
}

SpilledHead BlockLayout::headAt(const char *block, uint32_t slot) const {
  SpilledHead head;
  std::memcpy(&head, block + rows * keyBytes + slot * headBytes, headBytes);
  return head;
}

void BlockLayout::put(char *block, uint32_t slot, int64_t key, SpilledHead head,
                      const void *row) const {
  std::memcpy(block + slot * keyBytes, &key, keyBytes);
  std::memcpy(block + rows * keyBytes + slot * headBytes, &head, headBytes);
  std::memmove(const_cast<char *>(rowAt(block, slot)), row, rowBytes);
}

/// Returns true if a row of a block is live.
static bool isLive(const SpilledBlock &block, uint32_t slot) {
  return (block.live >> slot & 1) != 0;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the phase of a shard's sizes. Shards grow at different times, as in
/// HashTable.cpp.
static double phaseOf(int shard) {
  return double(shard) / double(pdlabi::logicalShardCount);
}

int SpilledShard::slotOf(const BlockLayout &layout, uint32_t block,
                         const char *bytes, int64_t key) const {
  for (uint64_t left = blocks[block].live; left; left &= left - 1) {
    const int slot = std::countr_zero(left);
    if (layout.keyAt(bytes, uint32_t(slot)) == key)
      return slot;
  }
  return -1;
}

/// Passes the open block to the store, and starts a new one.
void SpilledShard::beginBlock(const SpilledTable &table, int number) {
  if (!openBytes.empty()) {
    if (blocks[openNumber].live == 0) {
      dead -= openRows;
      openRows = 0;
      blocks[openNumber] = {};
      return;
    }
    table.store->put(table.id, number, openNumber, openBytes);
  }
  if (unused.empty()) {
    // Capacity to return all numbers without allocating.
    if (unused.capacity() <= blocks.size())
      unused.reserve(blocks.size() + blocks.size() / 4 + 16);
    blocks.emplace_back();
    openBytes.resize(table.layout.bytes());
    openNumber = uint32_t(blocks.size() - 1);
  } else {
    openNumber = unused.back();
    unused.pop_back();
  }
  blocks[openNumber] = {};
  openRows = 0;
}

void SpilledShard::noteChange(uint32_t block, SpilledHead head) {
  if (head.isDirty())
    blocks[block].changed = std::max(blocks[block].changed, head.saves + 1);
}

void SpilledShard::add(const SpilledTable &table, int number, int64_t key,
                       SpilledHead head, const void *row) {
  if (openBytes.empty() || openRows == table.layout.capacity())
    beginBlock(table, number);
  index.insert(pdlabi::mixKey(uint64_t(key)), openNumber, phaseOf(number));
  table.layout.put(openBytes.data(), openRows, key, head, row);
  blocks[openNumber].live |= uint64_t(1) << openRows++;
  noteChange(openNumber, head);
}

void SpilledShard::remove(const BlockLayout &layout, uint32_t block,
                          uint32_t slot, int64_t key) {
  index.erase(pdlabi::mixKey(uint64_t(key)), block);
  blocks[block].live &= ~(uint64_t(1) << slot);
  ++dead;
  if (blocks[block].live == 0 && block != openNumber) {
    dead -= layout.capacity();
    unused.push_back(block);
  }
}

void SpilledShard::clean(const SpilledTable &table, int number) {
  constexpr size_t atOnce = 32;
  const uint32_t capacity = table.layout.capacity();
  std::vector<RowStore::BlockName> names;
  while (dead > size() + 2 * capacity) {
    names.clear();
    for (uint32_t block = 0; block < blocks.size(); ++block)
      if (blocks[block].live != 0 && block != openNumber &&
          2 * uint32_t(std::popcount(blocks[block].live)) <= capacity)
        names.push_back({number, block});
    if (names.size() > atOnce) {
      std::ranges::nth_element(names, names.begin() + atOnce, {},
                               [&](const RowStore::BlockName &name) {
                                 return std::popcount(blocks[name.number].live);
                               });
      names.resize(atOnce);
    }
    std::ranges::sort(names);
    table.store->get(
        table.id, names, table.layout.bytes(), [&](size_t i, const char *from) {
          const uint32_t block = names[i].number;
          for (uint32_t slot = 0; slot < capacity; ++slot) {
            if (!isLive(blocks[block], slot))
              continue;
            const int64_t key = table.layout.keyAt(from, slot);
            add(table, number, key, table.layout.headAt(from, slot),
                table.layout.rowAt(from, slot));
            remove(table.layout, block, slot, key);
          }
        });
  }
}

void SpilledShard::rewrite(const SpilledTable &table, int number,
                           const Visit &change) {
  RowStore::Reader reader(*table.store, table.id, number, table.layout.bytes());
  const BlockLayout &layout = table.layout;
  std::string copy(layout.bytes(), 0), row(layout.rowSize(), 0);
  for (uint32_t block = 0; block < blocks.size(); ++block) {
    if (blocks[block].live == 0)
      continue;
    char *bytes = openBytes.data();
    if (!isOpen(block)) {
      std::memcpy(copy.data(), reader.at(block), copy.size());
      bytes = copy.data();
    }
    bool isWritten = false;
    for (uint32_t slot = 0; slot < layout.capacity(); ++slot) {
      if (!isLive(blocks[block], slot))
        continue;
      const int64_t key = layout.keyAt(bytes, slot);
      SpilledHead head = layout.headAt(bytes, slot);
      std::memcpy(row.data(), layout.rowAt(bytes, slot), row.size());
      switch (change(key, head, row.data())) {
      case Change::None:
        break;
      case Change::Written:
        layout.put(bytes, slot, key, head, row.data());
        noteChange(block, head);
        isWritten = true;
        break;
      case Change::Gone:
        remove(layout, block, slot, key);
        break;
      }
    }
    if (isWritten && !isOpen(block) && blocks[block].live != 0)
      table.store->put(table.id, number, block, copy);
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

SpilledShard::View SpilledShard::view(const SpilledTable &table,
                                      int number) const {
  View view;
  if (size() == 0)
    return view;
  view.table = &table;
  view.blocks = blocks;
  view.openNumber = openNumber;
  view.openBytes = openBytes;
  view.reader = std::make_unique<RowStore::Reader>(
      *table.store, table.id, number, table.layout.bytes());
  return view;
}

void SpilledShard::View::read(uint32_t minChanged, const Visit &visit) const {
  for (uint32_t number = 0; number < blocks.size(); ++number) {
    const SpilledBlock &block = blocks[number];
    if (block.live == 0 || block.changed < minChanged)
      continue;
    const char *bytes =
        number == openNumber ? openBytes.data() : reader->at(number);
    const BlockLayout &layout = table->layout;
    for (uint32_t slot = 0; slot < layout.capacity(); ++slot)
      if (isLive(block, slot))
        visit(layout.keyAt(bytes, slot), layout.headAt(bytes, slot),
              layout.rowAt(bytes, slot));
  }
}
