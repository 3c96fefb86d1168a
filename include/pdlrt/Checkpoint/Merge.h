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

/// Writes the state of `checkpoint`, without references to predecessors, to the
/// new folder `path`, with parts of `sizes`. The result is byte for byte what
/// the same processes would have written instead of the delta. A full
/// checkpoint is copied. Holds the keys of one process's tables in memory.
/// Throws std::bad_alloc.
Status mergeCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                       const TablePartSizes &sizes = {});

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MERGE_H
