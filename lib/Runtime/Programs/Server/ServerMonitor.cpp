//===- ServerMonitor.cpp - What operators see of a server -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Server/ServerMonitor.h"

#include "pdlrt/State/Model.h"

#include <utility>

using namespace pdlrt;

static constexpr std::chrono::milliseconds updateInterval(500);
/// Interval at which rows are counted. Requests wait in the meantime.
static constexpr std::chrono::seconds tableInterval(10);

ServerMonitor::ServerMonitor(StateHost &host)
    : host(host), next(Clock::now()), nextTables(Clock::now()) {
  reason.set("loading the state");
}

void ServerMonitor::update() {
  const Clock::time_point now = Clock::now();
  if (now < next)
    return;
  next = now + updateInterval;
  if (!host.isLoaded())
    return;
  // The time of a later wait begins with that wait.
  if (!std::exchange(wasLoaded, true))
    reason.drop();
  reason.set(host.core().waitingFor(Readiness::minWait));
  if (now >= nextTables && !*isCounting) {
    nextTables = now + tableInterval;
    updateTables();
  }
}

/// Counts the rows of the tables between two requests.
void ServerMonitor::updateTables() {
  *isCounting = true;
  host.core().betweenRequests(
      [&host = host](const std::vector<SenderMark> &) {
        host.model().noteTableSizes();
        return Status();
      },
      [isCounting = isCounting](const Status &) { *isCounting = false; });
}
