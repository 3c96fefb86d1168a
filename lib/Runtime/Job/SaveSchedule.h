//===- SaveSchedule.h - Schedule of saves by time and request ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_SAVESCHEDULE_H
#define LIB_RUNTIME_JOB_SAVESCHEDULE_H

#include <chrono>
#include <cstdint>
#include <optional>

namespace pdlrt {

/// Decides when a process wants a checkpoint for another reason than the number
/// of steps: because of time, on request (SIGUSR2), or after a failed save. Not
/// thread-safe.
class SaveSchedule {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// Maximum planned time between two meetings, in seconds. In a meeting, each
  /// of the trainers that do not step together tells the others whether it
  /// wants a checkpoint, and all agree on the step of the next meeting.
  /// `planMeeting` estimates that step from this time.
  static constexpr double meetingSeconds = 5;

  /// `minutes`: maximum time between two saves, or none if time does not
  /// matter. `requests`: number of requests of the process so far
  /// (`checkpointRequests`).
  SaveSchedule(std::optional<double> minutes, Time now, int requests);

  /// Returns true if a checkpoint is wanted.
  bool isDue(Time now, int requests) const;
  /// Returns true if there were requests since the last save.
  bool hasRequests(int requests) const { return requests != seenRequests; }
  /// Ignores requests so far.
  void dropRequests(int requests) { seenRequests = requests; }
  /// Records the start of a save.
  void noteSave(Time now, int requests);
  /// Records that the save failed. Another save is wanted after a pause, which
  /// doubles with each failure that counts. A failure during that pause does
  /// not count. Returns true if this failure counts.
  bool noteFailure(Time now);
  /// Records that the save is complete.
  void noteSuccess();
  /// Returns the number of consecutive failures that count.
  int64_t failures() const { return failedSaves; }
  /// Returns the pause after `failures` consecutive failures.
  static std::chrono::seconds pauseAfter(int64_t failures);

  /// Returns the number of steps until the trainers' next meeting, at least 1.
  /// `steps`: number of steps that this process has done.
  int64_t planMeeting(Time now, int64_t steps);
  /// Returns the last result of `planMeeting`, or 1 if there is none. A process
  /// without further steps proposes this number.
  int64_t lastPlanned() const { return lastPlan > 0 ? lastPlan : 1; }

private:
  std::optional<Clock::duration> interval;
  Time lastSave;
  std::optional<Time> retryAt;
  int64_t failedSaves = 0;
  /// End of the pause after the last counted failure.
  Time pauseEnd;
  int seenRequests;
  Time lastMeeting;
  int64_t stepsAtMeeting = 0, lastPlan = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_SAVESCHEDULE_H
