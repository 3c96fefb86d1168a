//===- Supervisor.h - Runs programs to their end ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_SUPERVISOR_H
#define PDL_TOOLS_PDL_LAUNCH_SUPERVISOR_H

#include "Output.h"
#include "Program.h"

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace pdllaunch {

/// Starts programs, passes their lines and our signals on, and waits for all of
/// them.
class Supervisor {
public:
  using Clock = std::chrono::steady_clock;
  /// After one failed, those that still run `grace` later get SIGTERM, and
  /// SIGKILL after as long again, with a line each; a grace of 0 waits for
  /// ever. Where one was refused for its flags they get SIGTERM at once. Who
  /// ends by a signal that was passed on has not failed: the others have ten
  /// times as long from then on to stop in order. A second SIGINT or SIGTERM
  /// leaves them a second, and then SIGKILL ends them.
  Supervisor(std::vector<Program> toRun, std::chrono::seconds graceTime,
             bool onTerminal)
      : programs(std::move(toRun)), grace(graceTime), output(onTerminal) {}
  ~Supervisor();
  Supervisor(const Supervisor &) = delete;
  Supervisor &operator=(const Supervisor &) = delete;

  /// The status of the first program that failed; where none did, that of the
  /// first one that was ended by a signal which was passed on, or 0.
  int run();

private:
  pdlrt::Status watchSignals();
  void start();
  void wait();
  void takeSignals();
  void passOn(int number);
  void killSoon();
  void noteEnd(const Program &program);
  bool hasFollowed(int status) const;
  void noteFailure(int status);
  void noteStop(int status);
  void pushAfter(std::chrono::seconds time, std::string reason);
  void endTheRest();
  void showStatus();
  size_t runningCount() const;
  std::string runningNames() const;

  std::vector<Program> programs;
  const std::chrono::seconds grace;
  Output output;
  const Clock::time_point started = Clock::now();
  sigset_t before{};
  int signals = -1;
  int firstFailure = 0;
  /// Those that were passed on.
  std::set<int> passedSignals;
  /// SIGINT and SIGTERM among them.
  int stopRequests = 0;
  /// Whether somebody ended in order after one, and its status.
  bool hasStopped = false;
  int stopStatus = 0;
  Clock::time_point nextPush = Clock::time_point::max();
  int nextSignal = SIGTERM;
  std::string pushReason;
  Clock::time_point nextReminder = Clock::time_point::max();
};

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_SUPERVISOR_H
