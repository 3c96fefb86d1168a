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
#include "pdlrt/Table/TableMoment.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Some shards of a table, ascending, and how many rows they have.
struct ShardRun {
  std::vector<CheckpointRange> shards;
  int64_t rows = 0;

  void add(int64_t shard, int64_t rowsOfShard);
  bool holds(int64_t shard) const;
};

/// A part that is to be written.
struct PlannedPart : ShardRun {
  int32_t symbol = 0;
  /// Of which moment its rows are; null: as they are, and do not change.
  TableMoment *moment = nullptr;
  /// Whether headers are told what was saved.
  bool notesSaved = false;
  /// As they were when it was planned.
  WaitingColumns waiting;
};

/// The changes of a table that are to be written.
struct PlannedChanges {
  int32_t symbol = 0;
  TableMoment *moment = nullptr;
  /// Keys that were erased since the last save, by (shard, key).
  std::vector<int64_t> erased;
  size_t bytesInPart = 0;
  /// By shard: those that changed since then, as they were when this was
  /// planned.
  std::vector<WaitingColumns> waiting = {};
};

/// "table-0-0016.safetensors": the part of a table that begins with that shard.
std::string tableFileOf(size_t symbol, int64_t firstShard);

/// How many bytes of files a part of a table has at least, unless it is the
/// last one, where those of a process have `allBytes`.
size_t bytesOfPart(size_t asked, size_t allBytes);

/// Bytes of a table's rows in files: keys, values and slots.
inline size_t fileBytes(const EmbeddingTable &table, int64_t rows) {
  return size_t(rows) * (table.rowBytes() + sizeof(int64_t));
}

/// Takes in the keys of a table that wait, as they are now; they are saved
/// then.
void planWaiting(const Model &model, PlannedChanges &planned);

/// Adds the parts of a table, as it is now or was at `moment`; each ends with
/// the shard that brings it to `bytesInPart`. `notesSaved`: of a base.
void planTableParts(const Model &model, int32_t symbol, size_t bytesInPart,
                    std::vector<PlannedPart> &parts,
                    TableMoment *moment = nullptr, bool notesSaved = false);

/// How many of `threads` threads, at least one, may write parts so that they
/// take `memory` bytes together.
size_t writersFor(const Model &model, const std::vector<PlannedPart> &parts,
                  size_t threads, size_t memory);

/// Writes parts into `folder`, each by one of the threads of `scheduler`, or by
/// the caller where it is null; in the order of `parts`. A part is made whole
/// in memory where `memory` bytes are enough for that, and else written piece
/// by piece, for which its keys are in memory; so many threads write as there
/// is memory for. What is not of a moment does not change meanwhile; shards of
/// a moment are passed. Throws std::bad_alloc.
Expected<std::vector<CheckpointPart>>
writeTableParts(const Model &model, const std::vector<PlannedPart> &parts,
                const std::string &folder, Scheduler *scheduler, size_t memory);

/// Writes the rows of a table that have changed since they were saved, and the
/// keys that are no more; headers are told so. Parts end as others do, and
/// shards of a moment are passed. In memory are the keys and addresses of the
/// rows of a part. Throws std::bad_alloc.
Expected<std::vector<CheckpointPart>>
writeChanges(const Model &model, const PlannedChanges &planned,
             const std::string &folder);

/// Sets the rows of a table that the model holds to those of part `index` of
/// the checkpoint, or changes them as it says. `columns`: the parts of a row
/// that are set, and from which part of the checkpoint each is. Any number of
/// threads, of different parts. Throws std::bad_alloc.
Status
restoreTablePart(const Model &model, int32_t symbol,
                 const Checkpoint &checkpoint, size_t index,
                 const std::vector<std::pair<int32_t, int32_t>> &columns);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_TABLEPARTS_H
