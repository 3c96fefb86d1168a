//===- SaveRequests.cpp - When server 0 asks trainers to save -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/SaveRequests.h"

#include <utility>

using namespace pdlrt;

bool SaveRequests::noteOfTrainers(int64_t count, Time now) {
  if (count == std::exchange(trainerRequests, count))
    return false;
  expectedUntil = now + SaveSchedule::pauseAfter(1);
  return true;
}

void SaveRequests::noteAsked(Time now) {
  nextTime = now + SaveSchedule::pauseAfter(++timesAsked);
}

void SaveRequests::notePublished(int64_t served) {
  timesAsked = 0;
  nextTime = {};
  if (served == trainerRequests)
    expectedUntil = {};
}

void SaveRequests::clear() {
  timesAsked = 0;
  nextTime = {};
  expectedUntil = {};
}
