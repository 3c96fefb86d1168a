//===- SaveRequests.h - When server 0 asks trainers to save -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_SAVEREQUESTS_H
#define LIB_RUNTIME_JOB_SAVEREQUESTS_H

#include "Job/SaveSchedule.h"

#include <cstdint>

namespace pdlrt {

/// Decides when server 0 asks trainers for a scheduled checkpoint. It asks
/// again after a pause, because the trainer that got the request may be lost.
/// If trainers have requested the checkpoint of each other, they save without
/// being asked, so server 0 asks only after a pause. Otherwise they would save
/// twice. Not thread-safe.
class SaveRequests {
public:
  using Time = SaveSchedule::Time;

  /// Records how many saves trainers have requested of each other so far.
  /// Returns true if there are new ones.
  bool noteOfTrainers(int64_t count, Time now);
  /// Returns the last number that was recorded.
  int64_t ofTrainers() const { return trainerRequests; }

  /// Returns true if trainers are to be asked now.
  bool isDue(Time now) const { return now >= expectedUntil && now >= nextTime; }
  /// Records that trainers were asked.
  void noteAsked(Time now);
  /// Records that trainers have published a save, which serves the first
  /// `served` of their requests.
  void notePublished(int64_t served);
  /// Records that no checkpoint is wanted any more.
  void clear();

private:
  int64_t trainerRequests = 0;
  /// Until then trainers are expected to begin a save that they have requested.
  Time expectedUntil = {};
  /// Number of requests since the last save, and the time of the next one.
  int64_t timesAsked = 0;
  Time nextTime = {};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_SAVEREQUESTS_H
