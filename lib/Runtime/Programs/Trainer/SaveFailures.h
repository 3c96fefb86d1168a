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

/// Failures of a training's saves, in its first process. A failure loses only
/// the checkpoint. If too many consecutive failures count, the training stops
/// in order. Logs a warning for each failure. Not thread-safe.
class SaveFailures {
public:
  /// `maxFailures` consecutive failures that count do not stop the training.
  /// `schedule` must outlive the object.
  SaveFailures(int64_t maxFailures, SaveSchedule &schedule)
      : maxFailures(maxFailures), schedule(schedule) {}

  /// From now on, only the last checkpoint is left to save, and no failure
  /// counts.
  void noteTrained() { isTrained = true; }
  /// Records the result of a save. `completed` is the number of completed saves
  /// so far. Returns true if the training must stop.
  bool note(Status result, int64_t completed, SaveSchedule::Time now);
  /// Records that the training stops because saves fail.
  void giveUp() { gaveUp = true; }

  /// Returns true if no save was completed after the last failure.
  bool isUnsaved() const { return unsaved; }
  /// Returns true if the training stops because saves fail.
  bool hasGivenUp() const { return gaveUp; }
  /// Returns the last failure that was not made good, or that stopped the
  /// training.
  const Status &failure() const { return last; }
  /// Replaces the failure, to add what follows from it.
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
