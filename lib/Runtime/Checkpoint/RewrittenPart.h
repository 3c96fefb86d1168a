//===- RewrittenPart.h - Parts made of those of a checkpoint ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_REWRITTENPART_H
#define LIB_RUNTIME_CHECKPOINT_REWRITTENPART_H

#include "Checkpoint/LinkedRows.h"
#include "Checkpoint/TableParts.h"
#include "Checkpoint/WaitingTensors.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace pdlrt {

/// Copies a file of the checkpoint as it is.
Status copyPart(const Checkpoint &checkpoint, size_t index,
                CheckpointWriter &writer);

/// Bytes of a row with its key, as the process that held it counted them.
size_t bytesOfRow(const CheckpointSymbol &symbol);

/// A part of a table that is made of rows of other parts.
struct RewrittenPart {
  /// Of the checkpoint's symbols.
  size_t symbol = 0;
  ShardRun run;
  /// Where the rows are, and which they are, by (shard, key).
  const std::vector<LinkedRows::File> &files;
  std::span<const LinkedRows::Row> rows;
  WaitingColumns waiting;
  /// Unless null: changes so many elements of a part of rows, 0: of values,
  /// else of slot `part` - 1, which are not aligned.
  std::function<void(size_t part, int64_t elements, std::byte *)> change = {};
};

/// Writes it, piece by piece. Throws std::bad_alloc.
Status writeRewritten(const Checkpoint &checkpoint, const RewrittenPart &part,
                      CheckpointWriter &writer);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_REWRITTENPART_H
