//===- RecentBlocks.h - Recently written blocks -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contains the blocks that a store of rows (RowStore.h) has received last:
// those that RocksDB does not have yet, and some that it has. Rows that were
// evicted recently are needed again more often than other rows. RocksDB would
// copy their blocks for each read, from its buffer or from a file. Here they
// are read in place.
//
// Blocks are stored one after the other in buffers. A full buffer waits until
// it was written to a file, and then stays for a while. The oldest buffer is
// freed first.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_RECENTBLOCKS_H
#define LIB_RUNTIME_TABLE_RECENTBLOCKS_H

#include "pdlrt/Core/SharedMutex.h"
#include "pdlrt/Table/RowStore.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Blocks that are in memory, by table, shard and number. If several blocks
/// have the same name, the last one counts. Thread-safe.
class RecentBlocks {
  class Memory;
  struct Buffer;

public:
  /// `bufferBytes`: size of a buffer. A larger block gets a larger buffer.
  explicit RecentBlocks(size_t bufferBytes);
  ~RecentBlocks();

  /// Keeps the buffers of found blocks alive.
  using Held = std::vector<std::shared_ptr<const Buffer>>;
  /// Blocks of a shard, by number.
  using Numbered = std::map<uint32_t, std::string_view>;

  /// Adds a copy of a block. If three buffers are waiting to be written to
  /// files, blocks until the first of them is written. On std::bad_alloc,
  /// nothing has changed.
  void put(uint64_t table, int shard, uint32_t number, std::string_view bytes);
  /// Sets blocks[i] to the content of block names[i] if that block is in
  /// memory. All other blocks must be read from files. The result keeps the
  /// contents valid. Throws std::bad_alloc.
  Held find(uint64_t table, std::span<const RowStore::BlockName> names,
            std::string_view *blocks) const;
  /// Returns the blocks of a shard that are in memory. All other blocks of the
  /// shard must be read from files. `held` keeps the contents valid. Throws
  /// std::bad_alloc.
  Numbered ofShard(uint64_t table, int shard, Held &held) const;

  /// Called by the thread that writes files. Blocks until a buffer must be
  /// written. Returns false if no more files are needed.
  bool waitForFull();
  struct Block {
    uint64_t table;
    RowStore::BlockName name;
    std::string_view bytes;
  };
  /// Returns the blocks of the buffer that has waited longest, in the order of
  /// their names. Leaves out blocks that were replaced by newer ones. The
  /// result is valid until `noteWritten`. Throws std::bad_alloc.
  std::vector<Block> oldest() const;
  /// Records that the blocks returned by `oldest` were written to a file.
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

  /// Returns the entries of a shard, or null if there are none.
  const Entries *entriesOf(uint64_t table, int shard) const
      PDLRT_REQUIRES_SHARED(mutex);
  const Entry *entryOf(uint64_t table, RowStore::BlockName name) const
      PDLRT_REQUIRES_SHARED(mutex);
  /// Returns a word with one bit set. Bit i stands for `buffers[i]`, the buffer
  /// of the entry.
  uint32_t bitOf(const Entry &entry) const PDLRT_REQUIRES_SHARED(mutex);
  Held hold(uint32_t bits) const PDLRT_REQUIRES_SHARED(mutex);
  void dropOldest() PDLRT_REQUIRES(mutex);

  const size_t bufferBytes;
  const std::shared_ptr<Memory> memory;
  mutable SharedMutex mutex;
  SharedConditionVariable changed;
  /// Buffers from the oldest one to the one to which blocks are being added.
  std::deque<std::shared_ptr<Buffer>> buffers PDLRT_GUARDED_BY(mutex);
  /// Number of buffers that were written to files.
  size_t written PDLRT_GUARDED_BY(mutex) = 0;
  std::atomic<bool> ending{false};
  /// The number of the next buffer.
  uint32_t nextBuffer PDLRT_GUARDED_BY(mutex) = 0;
  /// Indexed by table and shard.
  std::map<uint64_t, std::vector<Entries>> tables PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_RECENTBLOCKS_H
