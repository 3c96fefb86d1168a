//===- TableLife.h - Periods and scores of a saved table --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint describes the clauses `admit` and `shrink` of a table as texts
// of its model parts (ModelParts.h). These functions read such texts.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_TABLELIFE_H
#define LIB_RUNTIME_CHECKPOINT_TABLELIFE_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Returns the value of a part of the model that describes its training, as
/// `pdl-translate` wrote it. Returns null if the checkpoint has no part with
/// this name.
const std::string *trainingPartOf(const CheckpointManifest &manifest,
                                  const std::string &name);

/// Returns the number of updates in a period, which is the first number in the
/// part "shrinking of @table". Returns 0 if the model has no such part.
Expected<int64_t> updatesOfPeriod(const Checkpoint &checkpoint,
                                  const std::string &table);

/// Returns the running period, to which the next update will belong. `every`:
/// the number of updates in a period.
Expected<int64_t> runningPeriod(const Checkpoint &checkpoint,
                                const std::string &table, int64_t every);

/// Returns the weights of row slots in the score of a row, by slot. Empty if
/// the model does not define scores for the table.
std::vector<std::pair<std::string, double>>
scoreWeightsOf(const CheckpointManifest &manifest, const std::string &table);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_TABLELIFE_H
