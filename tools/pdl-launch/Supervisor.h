//===- Supervisor.h - Runs programs until they end --------------*- C++ -*-===//
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

/// Starts programs, forwards their output and this process's signals, and waits
/// for all of them.
class Supervisor {
public:
  using Clock = std::chrono::steady_clock;
  /// `graceTime`: after a failure, programs that still run for that time
  /// receive SIGTERM, and SIGKILL after the same time again, with a log line
  /// each. 0 waits without limit. If a program rejected its flags, the others
  /// receive SIGTERM immediately.
  ///
  /// Termination by a forwarded signal is not a failure; the other programs
  /// then have ten times as long for a graceful shutdown. After a second SIGINT
  /// or SIGTERM they have one second before SIGKILL.
  Supervisor(std::vector<Program> toRun, std::chrono::seconds graceTime,
             bool onTerminal)
      : programs(std::move(toRun)), grace(graceTime), output(onTerminal) {}
  ~Supervisor();
  Supervisor(const Supervisor &) = delete;
  Supervisor &operator=(const Supervisor &) = delete;

  /// Runs the programs. Returns the exit status of the first program that
  /// failed. If none failed, returns that of the first one that a forwarded
  /// signal ended, or 0.
  int run();

private:
  pdlrt::Status watchSignals();
  void start();
  void wait();
  void takeSignals();
  bool drain();
  void passOn(int number);
  void killSoon();
  void noteEnd(const Program &program);
  bool hasFollowed(int status) const;
  void noteFailure(int status, bool hasStarted);
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
  /// True if the first failure was that of a program that did not start.
  bool isUnstarted = false;
  /// Forwarded signals.
  std::set<int> passedSignals;
  /// Number of forwarded SIGINT and SIGTERM.
  int stopRequests = 0;
  /// True if a program shut down gracefully after one of them, and its exit
  /// status.
  bool hasStopped = false;
  int stopStatus = 0;
  Clock::time_point nextPush = Clock::time_point::max();
  int nextSignal = SIGTERM;
  std::string pushReason;
  Clock::time_point nextReminder = Clock::time_point::max();
};

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_SUPERVISOR_H
