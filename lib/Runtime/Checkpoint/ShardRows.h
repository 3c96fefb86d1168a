//===- ShardRows.h - The rows of a table, shard by shard --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_SHARDROWS_H
#define LIB_RUNTIME_CHECKPOINT_SHARDROWS_H

#include "Checkpoint/LinkedRows.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Table/WaitingKey.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Reads the rows and waiting keys of a table in a checkpoint and its
/// predecessors, shard by shard. Keeps one shard in memory, and the position of
/// each shard in each file. So the table may be larger than memory. Not
/// thread-safe.
class ShardRows {
public:
  /// Data of one shard, ordered by key. Each row refers to its newest version.
  struct Shard {
    std::vector<LinkedRows::Row> rows;
    std::vector<WaitingKey> waiting;
  };

  /// Finds the positions of the shards. Reads all keys, one part at a time.
  /// Returns an error if a key is out of order. The checkpoint must outlive the
  /// result. Throws std::bad_alloc.
  static Expected<ShardRows> open(const Checkpoint &checkpoint,
                                  const std::string &symbol);

  /// Returns the files with rows, indexed by `Row::file`.
  const std::vector<LinkedRows::File> &files() const { return all; }
  /// Returns the number of rows in all files, including outdated versions.
  int64_t writtenRows() const;
  /// Returns the rows of a file that belong to a shard, as [first, end).
  std::pair<int64_t, int64_t> rowsOf(size_t file, int shard) const;
  /// Reads one shard. Throws std::bad_alloc.
  Expected<Shard> read(int shard) const;

private:
  /// Positions at which shards begin and end in a list that is ordered by
  /// shard.
  class Runs {
  public:
    void add(int shard, int64_t at);
    /// Returns the range [first, end) of a shard, empty if it has no entries.
    std::pair<int64_t, int64_t> of(int shard) const;

  private:
    struct Run {
      int shard;
      int64_t first, end;
    };
    std::vector<Run> runs;
  };

  /// Position of the shards in a part.
  struct Part {
    size_t index; ///< Index in its checkpoint.
    Runs rows, erased, waiting;
  };

  std::vector<LinkedRows::File> all;
  /// Indexed by file.
  std::vector<Part> parts;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_SHARDROWS_H
