//===- RowStore.h - Rows in a folder ----------------------------*- C++ -*-===//
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
// A record is a row as it stands in memory with what was noted of it. Records
// of a table are in the order of (shard, key), keys as signed integers.
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
#include <vector>

namespace pdlrt {

/// A row that is kept: its header (`RowHeader::noted`), how often its shard had
/// been saved then, and its bytes.
struct StoredRow {
  uint32_t noted = 0;
  uint32_t saves = 0;
  std::string_view bytes;

  bool isDirty() const;
};

/// The rows of all tables of a process. Thread-safe. A disk that fails while
/// training goes on has lost state, as memory would have: the process ends
/// with a sentence and status 1.
class RowStore {
public:
  /// Makes a folder of this process's own in `folder`, which is made where it
  /// is not there, and removes those of processes that have ended. Errors: the
  /// library is missing; the folder cannot be made or written.
  static Expected<std::shared_ptr<RowStore>> open(const std::string &folder);
  /// Removes the folder.
  ~RowStore();
  RowStore(const RowStore &) = delete;
  RowStore &operator=(const RowStore &) = delete;

  /// Changes that are made together. One thread at a time.
  class Batch {
  public:
    explicit Batch(const RowStore &store);
    ~Batch();
    Batch(const Batch &) = delete;
    Batch &operator=(const Batch &) = delete;
    /// Of a key of a shard; a dirty one is listed as changed too.
    void put(uint64_t table, int shard, int64_t key, const StoredRow &row);
    void erase(uint64_t table, int shard, int64_t key);
    size_t size() const { return count; }
    /// Makes the changes, and is empty.
    void write();

  private:
    friend class RowStore;
    const RowStore &store;
    void *batch;
    size_t count = 0;
    std::string record;
  };

  /// Calls found(i, row) for each of the keys that is here; what the row holds
  /// is valid within the call.
  void get(uint64_t table, std::span<const int64_t> keys,
           const std::function<void(size_t, const StoredRow &)> &found) const;
  /// Calls visit(key, row) for those of a shard as they are now, in order.
  void
  forEach(uint64_t table, int shard,
          const std::function<void(int64_t, const StoredRow &)> &visit) const;
  /// Replaces `keys` by those of a shard that were dirty when they came and are
  /// not forgotten; ascending, each once. Some may be here no more.
  void collectChanged(uint64_t table, int shard,
                      std::vector<int64_t> &keys) const;
  /// Forgets those that came with fewer `saves`.
  void forgetChanged(uint64_t table, int shard, uint32_t saves);

private:
  struct Implementation;
  explicit RowStore(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> own;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWSTORE_H
