//===- SessionMetrics.cpp - Registered metrics of sessions ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/SessionMetrics.h"

using namespace pdlrt;

namespace {

/// The metric families of sessions.
struct SessionFamilies {
  const CounterFamily retry{
      {.name = "pdl_session_retries_total",
       .unit = "requests",
       .help = "Requests to an owner of state that were sent again, "
               "because no response arrived in time",
       .labels = {"owner"}}};
  const CounterFamily missed{
      {.name = "pdl_session_missed_heartbeats_total",
       .unit = "heartbeats",
       .help = "Heartbeats to an owner of state without a response",
       .labels = {"owner"}}};
};

} // namespace

/// Returns the metric families. They are declared by the first call, not by a
/// static initializer: `main` must check the CPU before other code runs.
static const SessionFamilies &sessionFamilies() {
  return processMetrics<SessionFamilies>();
}

void pdlrt::declareSessionMetrics() { sessionFamilies(); }

SessionMetrics::SessionMetrics(const std::string &owner)
    : retries(sessionFamilies().retry.add({owner})),
      missedHeartbeats(sessionFamilies().missed.add({owner})) {}
