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

/// Decides whether a training resumes from a checkpoint. Its progress is used
/// once. A restarted process that continues within a round uses `Recovery`
/// instead. Not thread-safe.
class ResumptionPlan {
public:
  explicit ResumptionPlan(const TrainingParts &parts) : parts(parts) {}

  /// Resumes from the checkpoint that the first process found, if it found one.
  /// Sets the totals of the state. All processes must call this, except those
  /// that rejoin.
  Status share();

  /// Returns the epoch that the training resumes in; 0 if it starts.
  int64_t firstEpoch() const;
  /// Returns true if the training resumes, and has not taken its progress yet.
  bool resumes() const { return resumption.has_value(); }
  /// Returns the progress to resume from; nothing if there is none, or if it
  /// has been taken.
  std::optional<Resumption> take();
  /// Returns the number of lines of the loss log before the resumed state;
  /// nothing if it is not known.
  std::optional<int64_t> lossLines() const { return loggedBefore; }

private:
  const TrainingParts parts;
  std::optional<Resumption> resumption;
  std::optional<int64_t> loggedBefore;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_RESUMPTIONPLAN_H
