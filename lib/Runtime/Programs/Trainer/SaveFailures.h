//===- SaveFailures.h - Failures of saves -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_SAVEFAILURES_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_SAVEFAILURES_H

#include "Job/SaveSchedule.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <utility>

namespace pdlrt {

/// Counts failures of a training's saves, in its first process. A failed save
/// loses only the checkpoint, so training continues. After too many consecutive
/// failures, the training must stop. Logs a warning for each failure. Not
/// thread-safe.
class SaveFailures {
public:
  /// `maxFailures`: maximum number of consecutive failures after which the
  /// training continues. Only failures for which `SaveSchedule::noteFailure`
  /// returns true count. `schedule` must outlive the object.
  SaveFailures(int64_t maxFailures, SaveSchedule &schedule)
      : maxFailures(maxFailures), schedule(schedule) {}

  /// Records that training is complete and only its last checkpoint is missing.
  /// Later failures do not count.
  void noteTrained() { isTrained = true; }
  /// Records the result of a save. `completed`: number of completed saves so
  /// far. Returns true if too many saves have failed, so that the training must
  /// stop.
  bool note(Status result, int64_t completed, SaveSchedule::Time now);
  /// Records that the training stops because saves fail.
  void giveUp() { gaveUp = true; }

  /// Returns true if no save was completed after the last failure.
  bool isUnsaved() const { return unsaved; }
  /// Returns true if the training stops because saves fail.
  bool hasGivenUp() const { return gaveUp; }
  /// Returns the last failure, or ok if a save was completed after it. If the
  /// training stops because saves fail, keeps that failure.
  const Status &failure() const { return last; }
  /// Replaces the failure by one that also names its consequences.
  void replaceFailure(Status failure) { last = std::move(failure); }

private:
  const int64_t maxFailures;
  SaveSchedule &schedule;
  /// Number of completed saves seen so far.
  int64_t seen = 0;
  Status last;
  bool isTrained = false, unsaved = false, gaveUp = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_SAVEFAILURES_H
