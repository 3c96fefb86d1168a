//===- RecentBlocks.h - Recently written blocks -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks that a store of rows (RowStore.h) received last: those that
// RocksDB does not have yet, and some that it has. Rows that were evicted
// recently are needed again more often than others, and RocksDB would copy
// their blocks for each read, from its buffer or a file. Here they are found in
// place.
//
// Blocks are stored consecutively in buffers. A full buffer waits until it is
// written to a file, then stays for a while, and is freed as a whole, the
// oldest one first.
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

/// Blocks by table, shard and number; of several blocks with one name, the last
/// one. Thread-safe.
class RecentBlocks {
  class Memory;
  struct Buffer;

public:
  /// Uses buffers of this size, unless a block is larger.
  explicit RecentBlocks(size_t bufferBytes);
  ~RecentBlocks();

  /// Keeps the buffers of found blocks alive.
  using Held = std::vector<std::shared_ptr<const Buffer>>;
  /// Blocks of a shard, by number.
  using Numbered = std::map<uint32_t, std::string_view>;

  /// Copies a block. If three buffers wait to be written, waits for the first
  /// of them. On std::bad_alloc, nothing has changed.
  void put(uint64_t table, int shard, uint32_t number, std::string_view bytes);
  /// Sets blocks[i] to the content of block names[i] if it is in memory. The
  /// other blocks have been written to files. Throws std::bad_alloc.
  Held find(uint64_t table, std::span<const RowStore::BlockName> names,
            std::string_view *blocks) const;
  /// Returns the blocks of a shard that are here; all others have been written
  /// to files. Throws std::bad_alloc.
  Numbered ofShard(uint64_t table, int shard, Held &held) const;

  /// Waits until a buffer must be written. Called by the thread that writes
  /// files. Returns false if no more files are needed.
  bool waitForFull();
  struct Block {
    uint64_t table;
    RowStore::BlockName name;
    std::string_view bytes;
  };
  /// Returns the blocks of the buffer that has waited longest to be written, in
  /// the order of their names, without outdated ones. They are valid until
  /// `noteWritten`. Throws std::bad_alloc.
  std::vector<Block> oldest() const;
  /// Records that these blocks were written to a file.
  void noteWritten();
  /// Ends writing: no thread writes or reads blocks any more.
  void end();
  bool isEnding() const { return ending.load(std::memory_order_relaxed); }

private:
  /// Location of a block.
  struct Entry {
    uint32_t number;
    uint32_t buffer;
    std::string_view bytes;
  };
  /// In the order of their numbers.
  using Entries = std::vector<Entry>;

  /// Call this and the next function with the mutex locked. Null: there are
  /// none.
  const Entries *entriesOf(uint64_t table, int shard) const;
  const Entry *entryOf(uint64_t table, RowStore::BlockName name) const;
  /// Returns the bit of a buffer among the existing ones.
  uint32_t bitOf(const Entry &entry) const;
  Held hold(uint32_t bits) const;
  void dropOldest();

  const size_t bufferBytes;
  const std::shared_ptr<Memory> memory;
  mutable std::shared_mutex mutex;
  std::condition_variable_any changed;
  /// From the oldest one to the one that is being filled.
  std::deque<std::shared_ptr<Buffer>> buffers;
  /// Number of buffers that were written to files.
  size_t written = 0;
  std::atomic<bool> ending{false};
  /// The number of the next buffer.
  uint32_t nextBuffer = 0;
  /// Indexed by table and shard.
  std::map<uint64_t, std::vector<Entries>> tables;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_RECENTBLOCKS_H
