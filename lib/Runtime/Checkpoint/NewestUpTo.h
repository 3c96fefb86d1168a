//===- NewestUpTo.h - The newest checkpoint up to a step --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_NEWESTUPTO_H
#define LIB_RUNTIME_CHECKPOINT_NEWESTUPTO_H

#include "pdlrt/Checkpoint/Checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Like `findNewestCheckpoint`, but considers only checkpoints of at most
/// `maxSteps` steps. `parts` selects the files that are read.
Expected<std::optional<Checkpoint>>
findNewestUpTo(const std::string &folder, int64_t maxSteps,
               std::vector<std::string> &refused, const PartSelection &parts,
               Scheduler *scheduler);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_NEWESTUPTO_H
