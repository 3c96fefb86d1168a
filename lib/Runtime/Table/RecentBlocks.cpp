//===- RecentBlocks.cpp - The blocks that were put last -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/RecentBlocks.h"

#include "pdlabi/hash.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <ranges>
#include <tuple>
#include <utility>

using namespace pdlrt;

/// Buffers that wait for their files, and all of them.
static constexpr size_t mostWaiting = 3, mostBuffers = 7;

/// Memory of blocks. What was written to it stays as it is.
struct RecentBlocks::Buffer {
  Buffer(uint32_t number, size_t bytes)
      : number(number), memory(bytes), start(memory.take(bytes)),
        capacity(bytes) {}

  bool hasRoom(size_t bytes) const { return bytes <= capacity - used; }

  const uint32_t number;
  AddressBlocks memory;
  char *const start;
  const size_t capacity;
  size_t used = 0;
  /// Of all blocks, in the order in which they came.
  std::vector<Block> blocks;
};

RecentBlocks::RecentBlocks(size_t bufferBytes) : bufferBytes(bufferBytes) {}
RecentBlocks::~RecentBlocks() = default;

const std::vector<RecentBlocks::Entry> *
RecentBlocks::entriesOf(uint64_t table, int shard) const {
  const auto found = tables.find(table);
  return found == tables.end() || found->second.empty()
             ? nullptr
             : &found->second[size_t(shard)];
}

/// Its blocks are found no more, unless later ones have their names.
void RecentBlocks::dropOldest() {
  for (auto &[table, shards] : tables)
    for (std::vector<Entry> &entries : shards)
      std::erase_if(entries, [&](const Entry &entry) {
        return entry.buffer == buffers.front()->number;
      });
  buffers.pop_front();
  --written;
}

void RecentBlocks::put(uint64_t table, int shard, uint32_t blockNumber,
                       std::string_view bytes) {
  std::unique_lock lock(mutex);
  while (buffers.empty() || !buffers.back()->hasRoom(bytes.size())) {
    if (buffers.size() > written + mostWaiting) {
      changed.wait(lock);
      continue;
    }
    buffers.push_back(
        std::make_shared<Buffer>(number, std::max(bufferBytes, bytes.size())));
    ++number;
    changed.notify_all();
    while (buffers.size() > mostBuffers && written > 0)
      dropOldest();
  }
  Buffer &buffer = *buffers.back();
  Shards &shards = tables[table];
  if (shards.empty())
    shards.resize(pdlabi::logicalShardCount);
  std::vector<Entry> &entries = shards[size_t(shard)];
  const std::string_view copy(buffer.start + buffer.used, bytes.size());
  const auto earlier = std::ranges::find(entries, blockNumber, &Entry::number);
  buffer.blocks.push_back({table, {shard, blockNumber}, copy});
  if (earlier != entries.end()) {
    *earlier = {blockNumber, buffer.number, copy};
  } else {
    try {
      entries.push_back({blockNumber, buffer.number, copy});
    } catch (...) {
      buffer.blocks.pop_back();
      throw;
    }
  }
  std::memcpy(buffer.start + buffer.used, bytes.data(), bytes.size());
  buffer.used += bytes.size();
}

RecentBlocks::Held RecentBlocks::holdAll() const {
  return {buffers.begin(), buffers.end()};
}

RecentBlocks::Held
RecentBlocks::find(uint64_t table, std::span<const RowStore::BlockName> names,
                   std::string_view *blocks) const {
  const std::shared_lock lock(mutex);
  bool isFound = false;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::vector<Entry> *entries = entriesOf(table, names[i].shard);
    if (!entries)
      continue;
    const auto found =
        std::ranges::find(*entries, names[i].number, &Entry::number);
    if (found == entries->end())
      continue;
    blocks[i] = found->bytes;
    isFound = true;
  }
  return isFound ? holdAll() : Held();
}

RecentBlocks::Numbered RecentBlocks::ofShard(uint64_t table, int shard,
                                             Held &held) const {
  const std::shared_lock lock(mutex);
  Numbered blocks;
  if (const std::vector<Entry> *entries = entriesOf(table, shard))
    for (const Entry &entry : *entries)
      blocks.emplace(entry.number, entry.bytes);
  held = holdAll();
  return blocks;
}

bool RecentBlocks::waitForFull() {
  std::shared_lock lock(mutex);
  changed.wait(lock,
               [&] { return isEnding() || buffers.size() > written + 1; });
  return !isEnding();
}

void RecentBlocks::end() {
  {
    const std::lock_guard lock(mutex);
    ending.store(true, std::memory_order_relaxed);
  }
  changed.notify_all();
}

std::vector<RecentBlocks::Block> RecentBlocks::oldest() const {
  std::vector<Block> blocks;
  {
    const std::shared_lock lock(mutex);
    const Buffer &buffer = *buffers[written];
    for (const Block &block : buffer.blocks) {
      const std::vector<Entry> &entries =
          *entriesOf(block.table, block.name.shard);
      const auto latest =
          std::ranges::find(entries, block.name.number, &Entry::number);
      if (latest->bytes.data() == block.bytes.data())
        blocks.push_back(block);
    }
  }
  std::ranges::sort(blocks, {}, [](const Block &block) {
    return std::tuple(block.table, block.name);
  });
  return blocks;
}

void RecentBlocks::noteWritten() {
  {
    const std::lock_guard lock(mutex);
    ++written;
  }
  changed.notify_all();
}
