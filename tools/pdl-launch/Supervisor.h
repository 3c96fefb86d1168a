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

/// Starts programs, and waits for all of them. Forwards their output, and the
/// signals that this process receives.
class Supervisor {
public:
  using Clock = std::chrono::steady_clock;
  /// `graceTime`: if a program has failed and others still run after this time,
  /// they receive SIGTERM, and SIGKILL after the same time again. Each is
  /// logged. 0 means no limit. If a program has rejected its flags, the others
  /// receive SIGTERM at once.
  ///
  /// A program that is ended by a forwarded signal has not failed. The others
  /// then have ten times as long for a graceful shutdown. After a second SIGINT
  /// or SIGTERM, they receive SIGKILL after one second.
  Supervisor(std::vector<Program> toRun, std::chrono::seconds graceTime,
             bool onTerminal)
      : programs(std::move(toRun)), grace(graceTime), output(onTerminal) {}
  ~Supervisor();
  Supervisor(const Supervisor &) = delete;
  Supervisor &operator=(const Supervisor &) = delete;

  /// Runs the programs. Returns the exit status of the program that has failed
  /// first. If none has failed, returns the status of the first program that a
  /// forwarded signal has ended, or 0.
  int run();

  const std::vector<Program> &allPrograms() const { return programs; }
  /// Returns a message about the program that has failed first; empty if none
  /// has failed.
  const std::string &firstFailureMessage() const { return failureMessage; }

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
  void noteFailure(int status, bool hasStarted, const std::string &message);
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
  std::string failureMessage;
  /// True if the first failure was that a program could not be started.
  bool isUnstarted = false;
  /// Forwarded signals.
  std::set<int> passedSignals;
  /// Number of forwarded SIGINT and SIGTERM.
  int stopRequests = 0;
  /// True if a program has shut down gracefully after a forwarded signal.
  /// `stopStatus`: its exit status.
  bool hasStopped = false;
  int stopStatus = 0;
  Clock::time_point nextPush = Clock::time_point::max();
  int nextSignal = SIGTERM;
  std::string pushReason;
  Clock::time_point nextReminder = Clock::time_point::max();
};

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_SUPERVISOR_H
