//===- SaveSchedule.cpp - Schedule of saves by time and request -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/SaveSchedule.h"

#include <algorithm>

using namespace pdlrt;

SaveSchedule::SaveSchedule(std::optional<double> minutes, Time now,
                           int requests)
    : lastSave(now), seenRequests(requests), lastMeeting(now) {
  if (minutes)
    interval = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double, std::ratio<60>>(*minutes));
}

bool SaveSchedule::isDue(Time now, int requests) const {
  return requests != seenRequests || (retryAt && now >= *retryAt) ||
         (interval && now - lastSave >= *interval);
}

void SaveSchedule::noteSave(Time now, int requests) {
  lastSave = now;
  seenRequests = requests;
  retryAt.reset();
}

bool SaveSchedule::noteFailure(Time now) {
  const bool counts = failedSaves == 0 || now >= pauseEnd;
  if (counts) {
    ++failedSaves;
    pauseEnd = now + pauseAfter(failedSaves);
  }
  retryAt = pauseEnd;
  return counts;
}

void SaveSchedule::noteSuccess() {
  retryAt.reset();
  failedSaves = 0;
}

std::chrono::seconds SaveSchedule::pauseAfter(int64_t failures) {
  constexpr int64_t first = 10, most = 640;
  const int64_t doublings = std::clamp<int64_t>(failures - 1, 0, 6);
  return std::chrono::seconds(std::min(first << doublings, most));
}

int64_t SaveSchedule::planMeeting(Time now, int64_t steps) {
  const double seconds =
      std::chrono::duration<double>(now - lastMeeting).count();
  const auto done = double(steps - stepsAtMeeting);
  double wanted = meetingSeconds;
  if (interval)
    wanted =
        std::min(wanted, std::chrono::duration<double>(*interval).count() / 4);
  // The first steps may be faster than later ones, so their time may promise
  // too many steps. Therefore the plan has at most four times as many steps as
  // the last one, and no meeting is much too late.
  int64_t plan = 1;
  if (lastPlan > 0 && seconds > 0)
    plan = int64_t(
        std::clamp(done / seconds * wanted, 1.0, 4.0 * double(lastPlan)));
  lastMeeting = now;
  stepsAtMeeting = steps;
  lastPlan = plan;
  return plan;
}
