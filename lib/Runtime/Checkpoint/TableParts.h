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
  /// Snapshot that the rows belong to. Null: the current rows, which must not
  /// change.
  TableSnapshot *snapshot = nullptr;
  /// If true, row headers record that the rows are saved.
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
  /// Indexed by shard: waiting keys that changed since the last save, at the
  /// time of planning.
  std::vector<WaitingColumns> waiting = {};
};

/// Returns the file name of the part of a table that begins with that shard,
/// such as "table-0-0016.safetensors".
std::string tableFileOf(size_t symbol, int64_t firstShard);

/// Returns the minimum file size of a part of a table, except the last one.
/// `allBytes`: total size of the tables of this process.
size_t bytesOfPart(size_t asked, size_t allBytes);

/// Returns the size of a table's rows in files: keys, values and slots.
inline size_t fileBytes(const EmbeddingTable &table, int64_t rows) {
  return size_t(rows) * (table.rowBytes() + sizeof(int64_t));
}

/// Adds the current waiting keys of a table to `planned`, and marks them as
/// saved.
void planWaiting(const Model &model, PlannedChanges &planned);

/// Adds the parts of a table, in its current state or that of the snapshot
/// `snapshot`. Each part ends with the shard at which it reaches `bytesInPart`.
/// `notesSaved`: set for a base of later deltas.
void planTableParts(const Model &model, int32_t symbol, size_t bytesInPart,
                    std::vector<PlannedPart> &parts,
                    TableSnapshot *snapshot = nullptr, bool notesSaved = false);

/// Returns the number of threads, at most `threads` and at least one, that can
/// write parts without exceeding `memory` bytes together.
size_t writersFor(const Model &model, const std::vector<PlannedPart> &parts,
                  size_t threads, size_t memory);

/// Writes parts into `folder`, in the order of `parts`, each on one of the
/// threads of `scheduler`, or on the caller's if it is null. A part is built in
/// memory if `memory` bytes suffice, otherwise written in pieces, for which its
/// keys are in memory. The number of threads is limited by `memory`. Rows that
/// do not belong to a snapshot must not change during the call. Shards of a
/// snapshot are marked as read. Throws std::bad_alloc.
Expected<std::vector<CheckpointPart>>
writeTableParts(const Model &model, const std::vector<PlannedPart> &parts,
                const std::string &folder, Scheduler *scheduler, size_t memory);

/// Writes the rows of a table that changed since the last save, and the erased
/// keys. Marks the rows as saved. Part sizes are as in `planTableParts`, and
/// shards of a snapshot are marked as read. Holds the keys and row addresses of
/// one part in memory. Throws std::bad_alloc.
Expected<std::vector<CheckpointPart>>
writeChanges(const Model &model, const PlannedChanges &planned,
             const std::string &folder);

/// Sets the rows of a table that the model holds to those of part `index` of
/// the checkpoint, or applies its changes. `columns`: the parts of a row to
/// set, and the part of the checkpoint from which each is read. May be called
/// concurrently for different parts. Throws std::bad_alloc.
Status
restoreTablePart(const Model &model, int32_t symbol,
                 const Checkpoint &checkpoint, size_t index,
                 const std::vector<std::pair<int32_t, int32_t>> &columns);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_TABLEPARTS_H
