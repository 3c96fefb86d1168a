//===- Merge.h - Merges a delta and its predecessors ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MERGE_H
#define PDLRT_CHECKPOINT_MERGE_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Core/Status.h"

#include <string>

namespace pdlrt {

/// Writes the state of the delta `checkpoint` and its predecessors to the new
/// folder `path`, as a full checkpoint. `sizes` limits the sizes of its files.
/// Each byte is as if the processes that wrote the delta had written a full
/// checkpoint instead. If `checkpoint` is a full checkpoint, copies it. Holds
/// in memory all keys of one table, and the keys that one writing process had
/// in its tables. Throws std::bad_alloc.
Status mergeCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                       const TablePartSizes &sizes = {});

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MERGE_H
