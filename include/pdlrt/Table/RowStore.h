//===- RowStore.h - Blocks of rows on disk ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage for rows that do not fit into memory: a folder on disk, managed by
// RocksDB, whose library is loaded when a store is opened. The content of a
// store lives as long as its process; only checkpoints outlive it. Therefore
// there is no log and no sync, and the next process removes the files of
// processes that have ended.
//
// Recently written blocks are in memory (RecentBlocks.h). A background thread
// of the store writes many of them at once, so a writer waits for the disk only
// if it is too slow for a long time.
//
// The store has blocks of bytes, identified by table, shard and number. Tables
// know which rows are in which block (SpillingTable.cpp). RocksDB therefore has
// one value for many rows, and is never asked for a missing key.
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

/// The blocks of all tables of a process. Thread-safe. If the disk fails during
/// training, or does not return what was written, state is lost, as with a
/// memory failure: the process prints an error message and exits with status 1.
class RowStore {
public:
  /// Creates a new folder for this process in `folder`, which is created if
  /// necessary, and removes the folders of processes that have ended. Returns
  /// an error if RocksDB's library is missing, or if the folder cannot be
  /// created or written. Uses ten times `bufferBytes` of memory, and in
  /// addition that of readers and of RocksDB's file metadata.
  static Expected<std::shared_ptr<RowStore>>
  open(const std::string &folder, size_t bufferBytes = size_t(16) << 20);
  /// Removes the folder.
  ~RowStore();
  RowStore(const RowStore &) = delete;
  RowStore &operator=(const RowStore &) = delete;

  /// Writes a copy of a block, or replaces it. Waits while three buffers of
  /// blocks are not written yet. On std::bad_alloc, nothing has changed.
  void put(uint64_t table, int shard, uint32_t number,
           std::string_view bytes) const;

  /// Identifies a block in its table.
  struct BlockName {
    int shard;
    uint32_t number;
    auto operator<=>(const BlockName &) const = default;
  };
  /// Calls found(i, bytes) for each of the blocks, in ascending order. Each of
  /// them must exist, with `bytes` bytes. The data is valid during the call of
  /// `found`, which may throw.
  void get(uint64_t table, std::span<const BlockName> names, size_t bytes,
           const std::function<void(size_t, const char *)> &found) const;

  /// Reads the blocks of a shard as they are at its construction, when no block
  /// of that shard may be written. Not thread-safe; the store must outlive it.
  class Reader {
  public:
    Reader(const RowStore &store, uint64_t table, int shard, size_t bytes);
    ~Reader();
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    /// Returns an existing block of `bytes` bytes; valid until the next call.
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
