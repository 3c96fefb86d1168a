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

/// The rows and the waiting keys of a table in a checkpoint and in all that it
/// follows. In memory are those of one shard, and where the shards of each file
/// begin: no table need fit into it. One thread at a time.
class ShardRows {
public:
  /// Of one shard, by key; rows where they were written last.
  struct Shard {
    std::vector<LinkedRows::Row> rows;
    std::vector<WaitingKey> waiting;
  };

  /// Looks at all keys, those of one part at a time: an error where one is not
  /// in its place. The checkpoint outlives it. Throws std::bad_alloc.
  static Expected<ShardRows> open(const Checkpoint &checkpoint,
                                  const std::string &symbol);

  /// The files that have rows, by `Row::file`.
  const std::vector<LinkedRows::File> &files() const { return all; }
  /// How many rows files have, those included that others hide.
  int64_t writtenRows() const;
  /// Which rows of a file are of a shard, [first, end).
  std::pair<int64_t, int64_t> rowsOf(size_t file, int shard) const;
  /// Throws std::bad_alloc.
  Expected<Shard> read(int shard) const;

private:
  /// Where shards begin in a list that is ordered by shard.
  class Runs {
  public:
    void add(int shard, int64_t at);
    /// [first, end); an empty range if it has none.
    std::pair<int64_t, int64_t> of(int shard) const;

  private:
    struct Run {
      int shard;
      int64_t first, end;
    };
    std::vector<Run> runs;
  };

  /// What a part says.
  struct Part {
    size_t index; ///< in its checkpoint
    Runs rows, erased, waiting;
  };

  std::vector<LinkedRows::File> all;
  /// By file.
  std::vector<Part> parts;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_SHARDROWS_H
