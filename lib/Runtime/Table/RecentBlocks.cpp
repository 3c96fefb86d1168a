//===- RecentBlocks.cpp - Recently written blocks -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/RecentBlocks.h"

#include "pdlabi/hash.h"
#include "pdlrt/Core/AddressBlocks.h"
#include "pdlrt/Core/Mutex.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

using namespace pdlrt;

/// `maxWaiting`: maximum number of full buffers that wait to be written.
/// `maxBuffers`: maximum number of all buffers.
static constexpr size_t maxWaiting = 3, maxBuffers = 7;

/// Keeps the memory of freed buffers for reuse. New memory would be slower,
/// because the system clears each of its pages. Thread-safe.
class RecentBlocks::Memory {
public:
  struct Piece {
    explicit Piece(size_t bytes) : blocks(bytes), start(blocks.take(bytes)) {}
    AddressBlocks blocks;
    char *const start;
  };

  /// Throws std::bad_alloc.
  std::unique_ptr<Piece> take(size_t bytes) {
    {
      const MutexLock lock(mutex);
      if (bytes == pieceBytes && spare)
        return std::move(spare);
    }
    return std::make_unique<Piece>(bytes);
  }
  void give(std::unique_ptr<Piece> piece, size_t bytes) {
    const MutexLock lock(mutex);
    if (bytes == pieceBytes && !spare)
      spare = std::move(piece);
  }

  explicit Memory(size_t pieceBytes) : pieceBytes(pieceBytes) {}

private:
  const size_t pieceBytes;
  Mutex mutex;
  std::unique_ptr<Piece> spare PDLRT_GUARDED_BY(mutex);
};

/// Memory of blocks. Written content does not change.
struct RecentBlocks::Buffer {
  Buffer(uint32_t number, size_t bytes, std::shared_ptr<Memory> memory)
      : number(number), memory(std::move(memory)),
        piece(this->memory->take(bytes)), capacity(bytes) {}
  ~Buffer() { memory->give(std::move(piece), capacity); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  bool hasRoom(size_t bytes) const { return bytes <= capacity - used; }
  char *next() const { return piece->start + used; }

  const uint32_t number;
  const std::shared_ptr<Memory> memory;
  std::unique_ptr<Memory::Piece> piece;
  const size_t capacity;
  size_t used = 0;
  /// Blocks of the buffer, in the order in which they were added.
  std::vector<Block> blocks;
};

RecentBlocks::RecentBlocks(size_t bufferBytes)
    : bufferBytes(bufferBytes), memory(std::make_shared<Memory>(bufferBytes)) {}
RecentBlocks::~RecentBlocks() = default;

const RecentBlocks::Entries *RecentBlocks::entriesOf(uint64_t table,
                                                     int shard) const {
  const auto found = tables.find(table);
  return found == tables.end() || found->second.empty()
             ? nullptr
             : &found->second[size_t(shard)];
}

const RecentBlocks::Entry *
RecentBlocks::entryOf(uint64_t table, RowStore::BlockName name) const {
  const Entries *entries = entriesOf(table, name.shard);
  if (!entries)
    return nullptr;
  const auto found =
      std::ranges::lower_bound(*entries, name.number, {}, &Entry::number);
  return found != entries->end() && found->number == name.number ? &*found
                                                                 : nullptr;
}

uint32_t RecentBlocks::bitOf(const Entry &entry) const {
  return uint32_t(1) << (entry.buffer - buffers.front()->number);
}

RecentBlocks::Held RecentBlocks::hold(uint32_t bits) const {
  Held held;
  for (; bits; bits &= bits - 1)
    held.push_back(buffers[size_t(std::countr_zero(bits))]);
  return held;
}

/// Drops the oldest buffer. Its blocks are then found only in files, unless a
/// newer buffer has blocks with the same names.
void RecentBlocks::dropOldest() {
  for (auto &[table, shards] : tables)
    for (Entries &entries : shards) {
      std::erase_if(entries,
                    [oldest = buffers.front()->number](const Entry &entry) {
                      return entry.buffer == oldest;
                    });
      // While a checkpoint is restored, a shard may have had many entries.
      constexpr size_t few = 64;
      if (entries.capacity() > 4 * entries.size() + few)
        entries.shrink_to_fit();
    }
  buffers.pop_front();
  --written;
}

void RecentBlocks::put(uint64_t table, int shard, uint32_t number,
                       std::string_view bytes) {
  WriteLock lock(mutex);
  while (buffers.empty() || !buffers.back()->hasRoom(bytes.size())) {
    if (buffers.size() > written + maxWaiting) {
      changed.wait(lock);
      continue;
    }
    buffers.push_back(std::make_shared<Buffer>(
        nextBuffer, std::max(bufferBytes, bytes.size()), memory));
    ++nextBuffer;
    changed.notify_all();
    while (buffers.size() > maxBuffers && written > 0)
      dropOldest();
  }
  Buffer &buffer = *buffers.back();
  std::vector<Entries> &shards = tables[table];
  if (shards.empty())
    shards.resize(pdlabi::logicalShardCount);
  char *const to = buffer.next();
  const std::string_view copy(to, bytes.size());
  buffer.blocks.push_back({table, {shard, number}, copy});
  Entries &entries = shards[size_t(shard)];
  const auto at = std::ranges::lower_bound(entries, number, {}, &Entry::number);
  const Entry entry = {number, buffer.number, copy};
  if (at != entries.end() && at->number == number) {
    *at = entry;
  } else {
    try {
      entries.insert(at, entry);
    } catch (...) {
      buffer.blocks.pop_back();
      throw;
    }
  }
  std::memcpy(to, bytes.data(), bytes.size());
  buffer.used += bytes.size();
}

RecentBlocks::Held
RecentBlocks::find(uint64_t table, std::span<const RowStore::BlockName> names,
                   std::string_view *blocks) const {
  const ReadLock lock(mutex);
  uint32_t bits = 0;
  for (size_t i = 0; i < names.size(); ++i)
    if (const Entry *found = entryOf(table, names[i])) {
      blocks[i] = found->bytes;
      bits |= bitOf(*found);
    }
  return hold(bits);
}

RecentBlocks::Numbered RecentBlocks::ofShard(uint64_t table, int shard,
                                             Held &held) const {
  const ReadLock lock(mutex);
  Numbered blocks;
  uint32_t bits = 0;
  if (const Entries *entries = entriesOf(table, shard))
    for (const Entry &entry : *entries) {
      blocks.emplace_hint(blocks.end(), entry.number, entry.bytes);
      bits |= bitOf(entry);
    }
  held = hold(bits);
  return blocks;
}

bool RecentBlocks::waitForFull() {
  ReadLock lock(mutex);
  changed.wait(lock, [this]() PDLRT_REQUIRES_SHARED(mutex) {
    return isEnding() || buffers.size() > written + 1;
  });
  return !isEnding();
}

void RecentBlocks::end() {
  {
    const WriteLock lock(mutex);
    ending.store(true, std::memory_order_relaxed);
  }
  changed.notify_all();
}

std::vector<RecentBlocks::Block> RecentBlocks::oldest() const {
  std::vector<Block> blocks;
  {
    const ReadLock lock(mutex);
    const Buffer &buffer = *buffers[written];
    blocks.reserve(buffer.blocks.size());
    for (const Block &block : buffer.blocks)
      if (entryOf(block.table, block.name)->bytes.data() == block.bytes.data())
        blocks.push_back(block);
  }
  std::ranges::sort(blocks, {}, [](const Block &block) {
    return std::tuple(block.table, block.name);
  });
  return blocks;
}

void RecentBlocks::noteWritten() {
  {
    const WriteLock lock(mutex);
    ++written;
  }
  changed.notify_all();
}
