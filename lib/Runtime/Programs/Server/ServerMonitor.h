//===- ServerMonitor.h - What operators see of a server ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_SERVER_SERVERMONITOR_H
#define LIB_RUNTIME_PROGRAMS_SERVER_SERVERMONITOR_H

#include "pdlrt/Core/Readiness.h"
#include "pdlrt/Job/StateHost.h"

#include <atomic>
#include <chrono>
#include <memory>

namespace pdlrt {

/// Keeps the readiness of a server, and the sizes of its tables, up to date for
/// the monitoring endpoint. Only the thread that waits for the end of the job
/// uses it.
class ServerMonitor {
public:
  /// `host` must outlive the monitor.
  explicit ServerMonitor(StateHost &host);

  /// Updates both if they are out of date. Call this several times a second.
  void update();

private:
  using Clock = std::chrono::steady_clock;
  void updateTables();

  StateHost &host;
  Readiness::Reason reason{processReadiness()};
  bool wasLoaded = false;
  Clock::time_point next, nextTables;
  /// True while the server counts the rows of its tables. Shared with the task
  /// that counts them.
  std::shared_ptr<std::atomic<bool>> isCounting =
      std::make_shared<std::atomic<bool>>(false);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_SERVER_SERVERMONITOR_H
