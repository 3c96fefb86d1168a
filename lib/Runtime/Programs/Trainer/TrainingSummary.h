//===- TrainingSummary.h - Members of a summary -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGSUMMARY_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGSUMMARY_H

#include "Engine/TrainingState.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/State/Model.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pdlrt {

// These functions set members of the summary of this process (RunSummary.h).
// They do nothing if no summary is open.

/// Returns the figures of a pass as an object: samples, bad rows, the loss if
/// `hasLoss`, and the metrics of the model by name. Values that are undefined
/// are null.
nlohmann::ordered_json figuresOf(const pdl_descriptor &descriptor,
                                 const PassReport &report, bool hasLoss);

/// Counts of a run, without those of earlier runs of the training.
struct RunCounts {
  int64_t steps = 0, samples = 0;
  /// Steps and samples of this process since its last restart.
  int64_t ownSteps = 0;
  double ownSamples = 0;

  explicit RunCounts(const TrainingState &state);
};

/// Sets the counts of the training.
void summarizeCounts(const TrainingState &state);
/// Adds an epoch to the summary and writes it. `tested`: the results of the
/// test after the epoch; without samples if there was none. `testHasLoss`: the
/// tested program has a loss.
void summarizeEpoch(const pdl_descriptor &descriptor,
                    const TrainingState &state, int64_t epoch,
                    const PassReport &trained, const PassReport &tested,
                    bool testHasLoss);
/// Adds a test within an epoch, of the state after `steps` steps, and writes
/// the summary. `hasLoss`: the tested program has a loss.
void summarizeTest(const pdl_descriptor &descriptor, int64_t epoch,
                   int64_t steps, const PassReport &tested, bool hasLoss);
/// Adds a complete checkpoint after `steps` steps, and writes the summary.
void summarizeCheckpoint(const std::string &path, int64_t steps);
/// Sets the results of the command `evaluate`.
void summarizeEvaluation(const pdl_descriptor &descriptor,
                         const PassReport &report, bool hasLoss);
/// Sets the counts of the command `predict`. `seconds`: time of all steps.
/// `ids`: ids that were looked up.
void summarizePrediction(const PassReport &report, double seconds,
                         const PullCounts &ids);
/// Sets the sizes of the tables of this process.
Status summarizeTables(const Model &model);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGSUMMARY_H
