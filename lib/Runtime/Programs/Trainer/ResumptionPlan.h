//===- ResumptionPlan.h - What a training resumes from ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_RESUMPTIONPLAN_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_RESUMPTIONPLAN_H

#include "Programs/Trainer/TrainingParts.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/Resumption.h"

#include <cstdint>
#include <optional>

namespace pdlrt {

/// Decides whether a training resumes from a checkpoint, and holds the progress
/// to resume from. A restarted process that continues within a round uses
/// `Recovery` instead. Not thread-safe.
class ResumptionPlan {
public:
  explicit ResumptionPlan(const TrainingParts &parts) : parts(parts) {}

  /// Resumes from the checkpoint that the first process has found, if there is
  /// one: gets its progress, and sets the totals in `parts.state`. All
  /// processes must call this, except those that rejoin after a restart.
  Status share();

  /// Returns the epoch in which the training resumes, or 0 if it does not
  /// resume.
  int64_t firstEpoch() const;
  /// Returns true if the training resumes and `take` was not called yet.
  bool resumes() const { return resumption.has_value(); }
  /// Returns true if `resumes`, and the next epoch has not begun.
  bool resumesBetweenEpochs() const {
    return resumption && resumption->progress.positions.empty();
  }
  /// Returns the progress to resume from, once. Returns nothing if there is
  /// none, or if it was taken before.
  std::optional<Resumption> take();
  /// Returns the number of lines in the loss log that belong to the steps of
  /// the checkpoint. Returns nothing if it is not known.
  std::optional<int64_t> lossLines() const { return loggedBefore; }

private:
  const TrainingParts parts;
  std::optional<Resumption> resumption;
  std::optional<int64_t> loggedBefore;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_RESUMPTIONPLAN_H
