//===- RowStore.h - Blocks of rows on disk ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage on disk for rows that do not fit into memory. It is a folder that
// RocksDB manages; the library is loaded when a store is opened. The content of
// a store is not needed after the end of its process, because checkpoints
// contain all rows. So it is written without a log and without syncs, and the
// next process removes the files of processes that have ended.
//
// Recently written blocks are in memory (RecentBlocks.h). A background thread
// of the store writes many of them at once. So a caller waits for the disk only
// if the disk is too slow for a long time.
//
// A store has blocks of bytes, which are identified by table, shard and number.
// Tables record which rows are in which block (SpillingTable.cpp). So RocksDB
// has one value for many rows, and is never asked for a key that does not
// exist.
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
/// training, or returns other bytes than were written, state is lost. Then the
/// process prints an error message and exits with status 1.
class RowStore {
public:
  /// Creates a new folder for this process in `folder`, which is created if
  /// necessary. Removes the folders of processes that have ended. Returns an
  /// error if RocksDB's library is missing, or if the folder cannot be created
  /// or written. Uses ten times `bufferBytes` of memory; readers, and RocksDB
  /// for metadata of files, use more.
  static Expected<std::shared_ptr<RowStore>>
  open(const std::string &folder, size_t bufferBytes = size_t(16) << 20);
  /// Removes the folder.
  ~RowStore();
  RowStore(const RowStore &) = delete;
  RowStore &operator=(const RowStore &) = delete;

  /// Stores a copy of `bytes` as a block, in place of an existing block of this
  /// name. Waits while three full buffers of blocks are not written yet. On
  /// std::bad_alloc, nothing has changed.
  void put(uint64_t table, int shard, uint32_t number,
           std::string_view bytes) const;

  /// Identifies a block in its table.
  struct BlockName {
    int shard;
    uint32_t number;
    auto operator<=>(const BlockName &) const = default;
  };
  /// Calls found(i, data) for each block names[i], in ascending order. Each
  /// block must exist and have `bytes` bytes. `data` is valid during the call
  /// of `found`, which may throw.
  void get(uint64_t table, std::span<const BlockName> names, size_t bytes,
           const std::function<void(size_t, const char *)> &found) const;

  /// Reads the blocks of a shard as they were when this object was created. No
  /// block of the shard may be written during the creation. The store must
  /// outlive this object. Not thread-safe.
  class Reader {
  public:
    Reader(const RowStore &store, uint64_t table, int shard, size_t bytes);
    ~Reader();
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;
    /// Returns the block with number `number`, which must exist. Valid until
    /// the next call. Ascending numbers are the fastest.
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
