//===- SaveSchedule.h - Checkpoints that no step count asks for -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_SAVESCHEDULE_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_SAVESCHEDULE_H

#include <chrono>
#include <cstdint>
#include <optional>

namespace pdlrt {

/// Says when a trainer wants a checkpoint that no count of steps asks for: by
/// the clock, on request (SIGUSR2), and again after a save that failed. Not
/// thread-safe.
class SaveSchedule {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// Where trainers do not step together, they meet at steps on which they have
  /// agreed, to ask each other whether somebody wants a checkpoint: so often.
  static constexpr double meetingSeconds = 5;

  /// `minutes`: the longest time between two saves; none: no limit. `requests`:
  /// how many requests there have been (`checkpointRequests`).
  SaveSchedule(std::optional<double> minutes, Time now, int requests);

  /// Whether a checkpoint is wanted.
  bool isDue(Time now, int requests) const;
  /// A save begins.
  void noteSave(Time now, int requests);
  /// It failed, as did `failures` in a row: another one is wanted after a
  /// pause, which doubles with each failure.
  void noteFailure(Time now, int64_t failures);
  /// It is whole.
  void noteSuccess() { retryAt.reset(); }
  /// The pause after that many failures in a row.
  static std::chrono::seconds pauseAfter(int64_t failures);

  /// After how many steps trainers meet again, at least 1, when they have done
  /// `steps` in all.
  int64_t planMeeting(Time now, int64_t steps);
  /// What that returned last, for a process that has no more steps.
  int64_t lastPlanned() const { return lastPlan > 0 ? lastPlan : 1; }

private:
  std::optional<Clock::duration> interval;
  Time lastSave;
  std::optional<Time> retryAt;
  int seenRequests;
  Time lastMeeting;
  int64_t stepsAtMeeting = 0, lastPlan = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_SAVESCHEDULE_H
