//===- TableParts.h - The rows of a table in files --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_TABLEPARTS_H
#define LIB_RUNTIME_CHECKPOINT_TABLEPARTS_H

#include "Checkpoint/WaitingTensors.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Some shards of a table, ascending, and the total number of their rows.
struct ShardRun {
  std::vector<CheckpointRange> shards;
  int64_t rows = 0;

  void add(int64_t shard, int64_t rowsOfShard);
  bool holds(int64_t shard) const;
};

/// A part that is to be written.
struct PlannedPart : ShardRun {
  int32_t symbol = 0;
  /// Snapshot that contains the rows. If null, the current rows are saved, and
  /// they must not change meanwhile.
  TableSnapshot *snapshot = nullptr;
  /// True if rows must be marked as saved in their headers, because later
  /// deltas build on this save.
  bool notesSaved = false;
  /// Waiting keys at the time of planning.
  WaitingColumns waiting;
};

/// Changes of a table that are to be written.
struct PlannedChanges {
  int32_t symbol = 0;
  TableSnapshot *snapshot = nullptr;
  /// Keys that were erased since the last save, ordered by (shard, key).
  std::vector<int64_t> erased;
  size_t bytesInPart = 0;
  /// Indexed by shard: waiting keys that had changed since the previous save
  /// when this one was planned.
  std::vector<WaitingColumns> waiting = {};
};

/// Returns the name of the file of a table whose first shard is `firstShard`,
/// such as "table-0-0016.safetensors".
std::string tableFileOf(size_t symbol, int64_t firstShard);

/// Returns the size, in bytes, at which a file of a table is complete; only the
/// last file of a table may be smaller. The size is `asked`, or a 256th of
/// `allBytes` if that is more. `allBytes`: total size of the tables of this
/// process.
size_t bytesOfPart(size_t asked, size_t allBytes);

/// Returns the size of a table's rows in files: keys, values and slots.
inline size_t fileBytes(const EmbeddingTable &table, int64_t rows) {
  return size_t(rows) * (table.rowBytes() + sizeof(int64_t));
}

/// Adds the waiting keys of a table that changed since the previous save to
/// `planned`, and marks them as saved.
void planWaiting(const Model &model, PlannedChanges &planned);

/// Appends the planned parts of a table to `parts`. They contain its current
/// rows or, if `snapshot` is not null, the rows of that snapshot. Each part
/// ends with the shard at which it reaches `bytesInPart`. `notesSaved`: later
/// deltas build on this save, so rows must be marked as saved.
void planTableParts(const Model &model, int32_t symbol, size_t bytesInPart,
                    std::vector<PlannedPart> &parts,
                    TableSnapshot *snapshot = nullptr, bool notesSaved = false);

/// Returns the number of threads that can write parts and together use at most
/// `memory` bytes. The result is between 1 and `threads`.
size_t writersFor(const Model &model, const std::vector<PlannedPart> &parts,
                  size_t threads, size_t memory);

/// Writes parts into `folder` and returns them in the order of `parts`. Each
/// part is written by one thread of `scheduler`, or by the caller if
/// `scheduler` is null. `memory` limits the number of threads: a part is built
/// in memory if it needs at most `memory` bytes; otherwise it is written in
/// pieces, and only its keys are in memory. Rows that belong to no snapshot
/// must not change during the call. Shards of a snapshot are marked as read.
/// Throws std::bad_alloc.
Expected<std::vector<CheckpointPart>>
writeTableParts(const Model &model, const std::vector<PlannedPart> &parts,
                const std::string &folder, Scheduler *scheduler, size_t memory);

/// Writes the rows of a table that changed since the previous save, and the
/// keys that were erased since then. Marks these rows as saved, and shards of a
/// snapshot as read. Each part ends with the shard at which it reaches
/// `planned.bytesInPart`. Holds the keys and row addresses of one part in
/// memory. Throws std::bad_alloc.
Expected<std::vector<CheckpointPart>>
writeChanges(const Model &model, const PlannedChanges &planned,
             const std::string &folder);

/// Sets the rows of a table to those of part `index` of the checkpoint, or
/// applies the changes that the part contains. Skips shards that this process
/// does not hold. `columns`: the values (0) and slots (`slot` + 1) to set, each
/// with the number of the one in the checkpoint to read. May be called
/// concurrently for different parts. Throws std::bad_alloc.
Status
restoreTablePart(const Model &model, int32_t symbol,
                 const Checkpoint &checkpoint, size_t index,
                 const std::vector<std::pair<int32_t, int32_t>> &columns);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_TABLEPARTS_H
