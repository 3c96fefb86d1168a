//===- RewrittenPart.h - Writes parts made from other parts -----*- C++ -*-===//
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

/// Copies a file of the checkpoint unchanged.
Status copyPart(const Checkpoint &checkpoint, size_t index,
                CheckpointWriter &writer);

/// Returns the size of a row and its key in files, in bytes: the same as the
/// `fileBytes` of the table that was saved.
size_t bytesOfRow(const CheckpointSymbol &symbol);

/// A part of a table that is composed of rows of other parts.
struct RewrittenPart {
  /// Index in the checkpoint's symbols.
  size_t symbol = 0;
  ShardRun run;
  /// The files, and the rows to write, ordered by (shard, key).
  const std::vector<LinkedRows::File> &files;
  std::span<const LinkedRows::Row> rows;
  WaitingColumns waiting;
  /// If set, modifies the values or a slot of some rows before they are
  /// written. `part` is 0 for the values and `p` for slot `p` - 1. The pointer
  /// is the first of `elements` elements, which are not aligned.
  std::function<void(size_t part, int64_t elements, std::byte *)> change = {};
};

/// Writes the part in pieces. Throws std::bad_alloc.
Status writeRewritten(const Checkpoint &checkpoint, const RewrittenPart &part,
                      CheckpointWriter &writer);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_REWRITTENPART_H
