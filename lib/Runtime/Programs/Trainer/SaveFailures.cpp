//===- SaveFailures.cpp - Failures of saves -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/SaveFailures.h"

#include "pdlrt/Core/Log.h"

#include <fmt/format.h>

using namespace pdlrt;

bool SaveFailures::note(Status result, int64_t completed,
                        SaveSchedule::Time now) {
  if (completed != seen) {
    seen = completed;
    unsaved = false;
    schedule.noteSuccess();
    if (!gaveUp)
      last = {};
  }
  if (result.ok())
    return false;
  unsaved = true;
  bool mustStop = false;
  if (isTrained) {
    logWarning("a checkpoint was not saved: " + result.message());
  } else if (!schedule.noteFailure(now)) {
    logWarning(fmt::format(
        "a checkpoint was not saved: {}; the training goes on, and this "
        "failure does not count for --max-failed-saves, because the last one "
        "was less than {} s ago",
        result.message(),
        SaveSchedule::pauseAfter(schedule.failures()).count()));
  } else {
    mustStop = schedule.failures() > maxFailures;
    logWarning(
        fmt::format("a checkpoint was not saved: {}; consecutive failures: {} "
                    "(--max-failed-saves {}); the training {}",
                    result.message(), schedule.failures(), maxFailures,
                    mustStop ? "stops" : "goes on"));
  }
  last = std::move(result);
  return mustStop;
}
