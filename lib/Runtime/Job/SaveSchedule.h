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

/// Decides when a process wants a checkpoint that does not depend on the number
/// of steps: by time, on request (SIGUSR2), and again after a failed save. Not
/// thread-safe.
class SaveSchedule {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// Interval of meetings in seconds. Trainers that do not step together meet
  /// at agreed steps, to ask each other whether one of them wants a checkpoint.
  static constexpr double meetingSeconds = 5;

  /// `minutes` is the maximum time between two saves; none: no limit.
  /// `requests` is the number of requests so far (`checkpointRequests`).
  SaveSchedule(std::optional<double> minutes, Time now, int requests);

  /// Returns true if a checkpoint is wanted.
  bool isDue(Time now, int requests) const;
  /// Returns true if there are requests since the last save.
  bool hasRequests(int requests) const { return requests != seenRequests; }
  /// Ignores requests so far.
  void dropRequests(int requests) { seenRequests = requests; }
  /// Records the start of a save.
  void noteSave(Time now, int requests);
  /// Records that the save failed. Another one is wanted after a pause, which
  /// doubles with each counted failure. A failure during the pause after the
  /// last counted failure does not count. Returns true if this one counts.
  bool noteFailure(Time now);
  /// Records that the save is complete.
  void noteSuccess();
  /// Returns the number of consecutive failures that count.
  int64_t failures() const { return failedSaves; }
  /// Returns the pause after that many failures in a row.
  static std::chrono::seconds pauseAfter(int64_t failures);

  /// Returns the number of steps until the trainers' next meeting, at least 1.
  /// `steps` is the number of steps done so far.
  int64_t planMeeting(Time now, int64_t steps);
  /// Returns the last result of `planMeeting`, for a process that has no more
  /// steps.
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
