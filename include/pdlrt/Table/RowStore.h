//===- RowStore.h - Blocks of rows in a folder ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where rows go that a process has no memory for: a folder on a disk, kept by
// RocksDB, whose library is opened when a store is. What a store has lives as
// long as its process; checkpoints alone outlive that. So nothing is logged or
// waited for, and what an ended process has left is removed by the next one.
//
// Blocks that were given last are in memory (RecentBlocks.h), and written many
// at once by a thread of the store's own: who gives one waits for the disk only
// where that is slower for long.
//
// The store knows blocks of bytes, by table, shard and number. Which rows are
// in which block, tables know (SpillingTable.cpp). So RocksDB has one value for
// many rows, and is never asked for what is not there.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWSTORE_H
#define PDLRT_TABLE_ROWSTORE_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pdlrt {

/// The blocks of all tables of a process. Thread-safe. A disk that fails while
/// training goes on, or has not what was written, has lost state, as memory
/// would have: the process ends with a sentence and status 1.
class RowStore {
public:
  /// Makes a folder of this process's own in `folder`, which is made where it
  /// is not there, and removes those of processes that have ended. Errors: the
  /// library is missing; the folder cannot be made or written. Ten times
  /// `bufferBytes` are used, what readers hold, and what RocksDB knows of
  /// files.
  static Expected<std::shared_ptr<RowStore>>
  open(const std::string &folder, size_t bufferBytes = size_t(16) << 20);
  /// Removes the folder.
  ~RowStore();
  RowStore(const RowStore &) = delete;
  RowStore &operator=(const RowStore &) = delete;

  /// Copies a block, or copies it again instead. Waits where three buffers of
  /// blocks are yet to be written. Throws std::bad_alloc, and nothing has
  /// changed.
  void put(uint64_t table, int shard, uint32_t number,
           std::string_view bytes) const;

  /// A block's place in its table.
  struct BlockName {
    int shard;
    uint32_t number;
    auto operator<=>(const BlockName &) const = default;
  };
  /// Calls found(i, bytes) for each of the blocks, ascending, all of which have
  /// been put, with `bytes` each; what it gets is valid within the call,
  /// which may throw.
  void get(uint64_t table, std::span<const BlockName> names, size_t bytes,
           const std::function<void(size_t, const char *)> &found) const;

  /// Reads the blocks of a shard as they are when it is made, while nobody puts
  /// one of that shard. One thread at a time; the store outlives it.
  class Reader {
  public:
    Reader(const RowStore &store, uint64_t table, int shard, size_t bytes);
    ~Reader();
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    /// A block that had been put, with `bytes`; valid up to the next call.
    /// Fastest for ascending numbers.
    const char *at(uint32_t number);

  private:
    struct Implementation;
    std::unique_ptr<Implementation> own;
  };

private:
  struct Implementation;
  explicit RowStore(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> own;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWSTORE_H
