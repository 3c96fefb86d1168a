//===- Shrink.h - A checkpoint without the rows that go ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the clause `shrink` of a table does at the end of a period, for a
// checkpoint: of a training that has the clause, with other numbers, or of one
// whose rows have scores without it.
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

/// Which rows go.
struct ShrinkOptions {
  /// Of tables that have periods: rows without update, and waiting keys without
  /// occurrence, in the last so many whole periods, 1 or more. None: none goes
  /// for its age.
  std::optional<int64_t> unseen = {};
  /// Weights of row slots, by name, finite: tables that have all of them have
  /// scores. Empty: none has.
  std::vector<std::pair<std::string, double>> score = {};
  /// What multiplies the slots of a score, those of weight 0 excepted, before
  /// it is formed: above 0, at most 1.
  double decay = 1;
  /// Rows go whose score is less.
  double least = -std::numeric_limits<double>::infinity();
};

/// What became of a table.
struct ShrunkTable {
  std::string table;
  int64_t rows = 0, rowsLeft = 0;
  /// Keys that wait for a row.
  int64_t waiting = 0, waitingLeft = 0;
};

/// Writes the folder `path`, which is not there yet: the state of `checkpoint`
/// without the rows that go, as a whole checkpoint with parts of `sizes`; of
/// each table what became of it. An error where no table has what the options
/// are of, and where a row says a period that is none. In memory are the keys
/// of a part, and of a shard besides. Throws std::bad_alloc.
Expected<std::vector<ShrunkTable>>
shrinkCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                 const ShrinkOptions &options,
                 const TablePartSizes &sizes = {});

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_SHRINK_H
