//===- ServerContact.cpp - Signs of life of one server --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/ServerContact.h"

#include <algorithm>

using namespace pdlrt;

void ServerContact::begin(ClockTime heartbeat) {
  hasBegun = true;
  nextHeartbeat = heartbeat;
}

void ServerContact::wake(ClockTime expected, ClockTime now,
                         ClockTime interval) {
  const ClockTime late = now - expected;
  if (late <= interval)
    return;
  longestDelay = std::max(longestDelay, late);
  lastHeard = std::min(lastHeard + late, now);
  requestedSince = std::min(requestedSince + late, now);
  if (refusedSince >= ClockTime(0)) {
    refusedSince = std::min(refusedSince + late, now);
    refusedLast = std::min(refusedLast + late, now);
  }
}

void ServerContact::beat(ClockTime now, ClockTime following) {
  if (requestedSince <= lastHeard)
    requestedSince = now;
  nextHeartbeat = following;
}

ClockTime ServerContact::refuse(ClockTime now, ClockTime limit) {
  if (!hasBegun)
    return ClockTime(0);
  if (refusedSince < ClockTime(0) || now - refusedLast > limit)
    refusedSince = now;
  refusedLast = now;
  return now - refusedSince;
}

void ServerContact::learnProcess(const ProcessIdentity &said) {
  // The server may have died while this message was in flight.
  if (ProcessIdentity told = said; !(told == process) && told.watch())
    process = told;
}

std::string ServerContact::describeSilence(ClockTime now) const {
  const std::string state = process.describeState();
  return "not heard of for " + inSeconds(silence(now)) +
         (state.empty() ? "" : ": " + state);
}

std::string ServerContact::describeSuspension(ClockTime now) const {
  const ClockTime longest =
      std::max(longestDelay, hasBegun ? now - nextHeartbeat : ClockTime(0));
  if (longest <= reportedSilence)
    return {};
  return ": this process was stopped for " + inSeconds(longest) +
         ", and the job has ended or gone on without it, as the others say. ";
}
