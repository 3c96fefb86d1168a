//===- Shrink.h - Removes rows of low value from a checkpoint ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does to the tables of a checkpoint what the clause `shrink` does to a table
// at the end of a period: decays scores, and removes old rows and rows with low
// scores. ShrinkOptions replace the numbers of the model's clause. Rows can be
// removed by score even if the model has no clause.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_SHRINK_H
#define PDLRT_CHECKPOINT_SHRINK_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Selects the rows to remove.
struct ShrinkOptions {
  /// Number of periods, at least 1, for tables that count periods. Removes rows
  /// that had no update in the last `unseen` complete periods, and waiting keys
  /// that had no occurrence in them. If nullopt, no row is removed because of
  /// its age.
  std::optional<int64_t> unseen = {};
  /// Weights of row slots, by name, finite. The score of a row is the weighted
  /// sum of these slots. Tables that do not have all of these slots have no
  /// scores. If empty, no table has scores.
  std::vector<std::pair<std::string, double>> score = {};
  /// Factor in (0, 1]. Multiplies the row slots of `score`, except those with
  /// weight 0, before scores are computed.
  double decay = 1;
  /// Removes rows whose score is lower than this.
  double least = -std::numeric_limits<double>::infinity();
};

/// Numbers of rows and keys of a table before the removal, and after it
/// (`...Left`).
struct ShrunkTable {
  std::string table;
  int64_t rows = 0, rowsLeft = 0;
  /// Keys that wait for admission.
  int64_t waiting = 0, waitingLeft = 0;
};

/// Writes the state of `checkpoint`, without the rows and waiting keys that
/// `options` remove, as a full checkpoint to the new folder `path`. `sizes`
/// limits the sizes of its files. Returns the counts of each table. Returns an
/// error if no table supports the options, or if the stored period of a row's
/// last update is invalid. Holds the keys of one part and one shard in memory.
/// Throws std::bad_alloc.
Expected<std::vector<ShrunkTable>>
shrinkCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                 const ShrinkOptions &options,
                 const TablePartSizes &sizes = {});

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_SHRINK_H
