//===- Shrink.h - Removes rows of low value from a checkpoint ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applies the clause `shrink` of a table, as at the end of a period, to a
// checkpoint. The training may have the clause with other numbers, or only have
// rows with scores.
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
  /// Removes, in tables with periods, rows without an update, and waiting keys
  /// without an occurrence, in the last `unseen` complete periods; at least 1.
  /// None: age removes no row.
  std::optional<int64_t> unseen = {};
  /// Weights of row slots, by name, finite. Tables that have all of these slots
  /// have scores. Empty: no table has scores.
  std::vector<std::pair<std::string, double>> score = {};
  /// Factor in (0, 1] that multiplies the slots of a score before the score is
  /// computed. Slots with weight 0 are excepted.
  double decay = 1;
  /// Rows with a lower score are removed.
  double least = -std::numeric_limits<double>::infinity();
};

/// Row and key counts of a table before and after.
struct ShrunkTable {
  std::string table;
  int64_t rows = 0, rowsLeft = 0;
  /// Keys that wait for admission.
  int64_t waiting = 0, waitingLeft = 0;
};

/// Writes the state of `checkpoint` without the removed rows to the new folder
/// `path`, as a full checkpoint with parts of `sizes`. Returns the counts of
/// each table. Returns an error if no table supports the options, or if a row
/// has an invalid period. Holds the keys of one part and one shard in memory.
/// Throws std::bad_alloc.
Expected<std::vector<ShrunkTable>>
shrinkCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                 const ShrinkOptions &options,
                 const TablePartSizes &sizes = {});

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_SHRINK_H
