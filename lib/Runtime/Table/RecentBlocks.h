//===- RecentBlocks.h - The blocks that were put last -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a store of rows (RowStore.h) was given last: blocks that RocksDB has not
// yet, and some that it has. Rows that left memory lately come back more often
// than others, and RocksDB would copy their blocks for each that does, out of
// its buffer or a file. Here they are found where they are.
//
// Blocks lie in buffers, one behind the other. A full one waits for who writes
// it to a file, stays for a while then, and goes as a whole, the oldest first.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_RECENTBLOCKS_H
#define LIB_RUNTIME_TABLE_RECENTBLOCKS_H

#include "pdlrt/Table/RowStore.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Blocks by table, shard and number; of one name the last one. Thread-safe.
class RecentBlocks {
  class Memory;
  struct Buffer;

public:
  /// With buffers of so many bytes, unless a block is larger.
  explicit RecentBlocks(size_t bufferBytes);
  ~RecentBlocks();

  /// Keeps what was found where it is, with the buffers that it is in.
  using Held = std::vector<std::shared_ptr<const Buffer>>;
  /// Blocks of a shard, by their numbers.
  using Numbered = std::map<uint32_t, std::string_view>;

  /// Copies a block, once there is room for it: where three buffers wait for
  /// their files, it waits for the first of these. Throws std::bad_alloc, and
  /// nothing has changed.
  void put(uint64_t table, int shard, uint32_t number, std::string_view bytes);
  /// Sets those of `blocks` that are here; the others are in files by now.
  /// Throws std::bad_alloc.
  Held find(uint64_t table, std::span<const RowStore::BlockName> names,
            std::string_view *blocks) const;
  /// What is here of a shard; all other blocks of it are in files by now.
  /// Throws std::bad_alloc.
  Numbered ofShard(uint64_t table, int shard, Held &held) const;

  /// For who writes files, a thread: waits until a buffer waits for its file.
  /// False: there are to be no more.
  bool waitForFull();
  struct Block {
    uint64_t table;
    RowStore::BlockName name;
    std::string_view bytes;
  };
  /// The blocks of the buffer that has waited longest, of those that do, in the
  /// order of their names; without those that are out of date. They stay up to
  /// `noteWritten`. Throws std::bad_alloc.
  std::vector<Block> oldest() const;
  /// They are in a file.
  void noteWritten();
  /// No more files: nobody puts or reads blocks any more.
  void end();
  bool isEnding() const { return ending.load(std::memory_order_relaxed); }

private:
  /// Where a block is.
  struct Entry {
    uint32_t number;
    uint32_t buffer;
    std::string_view bytes;
  };
  /// In the order of their numbers.
  using Entries = std::vector<Entry>;

  /// With the mutex held, as the next ones; null: there are none.
  const Entries *entriesOf(uint64_t table, int shard) const;
  const Entry *entryOf(uint64_t table, RowStore::BlockName name) const;
  /// A bit for a buffer of those that there are.
  uint32_t bitOf(const Entry &entry) const;
  Held hold(uint32_t bits) const;
  void dropOldest();

  const size_t bufferBytes;
  const std::shared_ptr<Memory> memory;
  mutable std::shared_mutex mutex;
  std::condition_variable_any changed;
  /// From the oldest one to the one that is being filled.
  std::deque<std::shared_ptr<Buffer>> buffers;
  /// So many of them are in files.
  size_t written = 0;
  std::atomic<bool> ending{false};
  /// The number of the next buffer.
  uint32_t nextBuffer = 0;
  /// By table and shard.
  std::map<uint64_t, std::vector<Entries>> tables;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_RECENTBLOCKS_H
