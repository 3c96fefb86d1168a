//===- Supervisor.cpp - Runs programs until they end ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Supervisor.h"

#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::ExitCode;
using pdlrt::exitCodeOf;
using pdlrt::Status;

/// Signals that are forwarded to the programs of the job.
static constexpr int passedOn[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                   SIGXCPU, SIGUSR1, SIGUSR2};
/// A graceful shutdown may have to write much data. So its time limit is this
/// multiple of the grace period.
static constexpr int stopFactor = 10;
/// Time from a second request to stop until SIGKILL. It suffices only for a
/// last log line.
static constexpr std::chrono::seconds lastGrace(1);
/// Duration that is longer than any job and that clocks can represent.
static constexpr std::chrono::hours longestTime(24 * 365 * 100);
/// Maximum time that the last results wait for a reader after a request to
/// stop.
static constexpr std::chrono::milliseconds drainTime(3000);
static constexpr char lostResults[] =
    "the last results are lost, because no process read the standard output";
/// Interval of messages about programs that delay the end of a job.
static constexpr std::chrono::seconds reminderInterval(10);

static std::string nameOf(int signal) {
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

static std::string inSeconds(std::chrono::seconds time) {
  return std::to_string(time.count()) + " s";
}

Supervisor::~Supervisor() {
  if (signals >= 0)
    ::close(signals);
}

int Supervisor::run() {
  if (const Status status = watchSignals(); !status.ok()) {
    output.warn(status.message());
    failureMessage = status.message();
    return statusOf(exitCodeOf(status.code()));
  }
  start();
  while (runningCount() > 0) {
    showStatus();
    wait();
    endTheRest();
  }
  const int status = firstFailure != 0 ? firstFailure : stopStatus;
  if (drain() || status != 0)
    return status;
  failureMessage = lostResults;
  return statusOf(ExitCode::Retry);
}

/// Waits until all results are written. After a request to stop, waits for
/// `drainTime` at most. Returns false if some results are lost.
bool Supervisor::drain() {
  while (output.isWaiting()) {
    const bool stops = !passedSignals.empty();
    pollfd ready[] = {{STDOUT_FILENO, POLLOUT, 0}, {signals, POLLIN, 0}};
    const int count =
        ::poll(ready, 2, stops ? static_cast<int>(drainTime.count()) : -1);
    if (count == 0 || (count > 0 && stops && ready[1].revents)) {
      output.warn(lostResults);
      return false;
    }
    if (count > 0 && ready[0].revents)
      output.flush();
    if (count > 0 && ready[1].revents)
      takeSignals();
  }
  return true;
}

Status Supervisor::watchSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : passedOn)
    // Do not forward SIGHUP if the launcher ignores it (nohup).
    if (number != SIGHUP || !pdlrt::isSignalIgnored(number))
      sigaddset(&set, number);
  if (::sigprocmask(SIG_BLOCK, &set, &before) != 0)
    return Status::internal(std::string("cannot wait for signals: ") +
                            std::strerror(errno));
  // If the reader of the launcher's output ends, the job continues.
  if (::signal(SIGPIPE, SIG_IGN) == SIG_ERR)
    return Status::internal(std::string("cannot ignore a signal: ") +
                            std::strerror(errno));
  signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0)
    return Status::internal(std::string("cannot wait for signals: ") +
                            std::strerror(errno));
  return {};
}

void Supervisor::start() {
  for (Program &program : programs) {
    const Status status = program.start(before);
    if (status.ok())
      continue;
    output.warn(status.message());
    noteFailure(statusOf(exitCodeOf(status.code())), /*hasStarted=*/false,
                status.message());
    return;
  }
}

void Supervisor::wait() {
  std::vector<pollfd> ready{{signals, POLLIN, 0}};
  std::vector<std::pair<Program *, int>> sources{{nullptr, 0}};
  // While results wait for a reader of the standard output, do not read more of
  // them from the programs.
  for (Program &program : programs)
    for (int pipe = output.isWaiting() ? 1 : 0; pipe < 2; ++pipe)
      if (program.pipes()[pipe] >= 0) {
        ready.push_back({program.pipes()[pipe], POLLIN, 0});
        sources.emplace_back(&program, pipe);
      }
  if (output.isWaiting()) {
    ready.push_back({STDOUT_FILENO, POLLOUT, 0});
    sources.emplace_back(nullptr, 0);
  }
  constexpr int milliseconds = 500;
  if (::poll(ready.data(), ready.size(), milliseconds) <= 0)
    return;
  for (size_t i = 1; i < ready.size(); ++i)
    if (ready[i].revents && !sources[i].first)
      output.flush();
    else if (ready[i].revents)
      sources[i].first->forward(sources[i].second, output);
  if (ready[0].revents)
    takeSignals();
}

void Supervisor::takeSignals() {
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof(info)) == sizeof(info))
    if (info.ssi_signo != SIGCHLD)
      passOn(static_cast<int>(info.ssi_signo));
  // One SIGCHLD may stand for several programs.
  for (Program &program : programs)
    if (program.collect(output))
      noteEnd(program);
}

void Supervisor::passOn(int number) {
  // SIGUSR2 requests a checkpoint and does not end programs.
  if (number != SIGUSR2)
    passedSignals.insert(number);
  if (runningCount() == 0)
    return;
  output.say("passes " + nameOf(number) + " on to " + runningNames());
  for (const Program &program : programs)
    program.signal(number);
  if ((number == SIGINT || number == SIGTERM) && ++stopRequests == 2)
    killSoon();
}

/// Schedules SIGKILL soon after a second SIGINT or SIGTERM. That signal ends
/// each program at once, unless the program hangs or is stopped.
void Supervisor::killSoon() {
  nextPush = std::min(nextPush, Clock::now() + lastGrace);
  nextSignal = SIGKILL;
  pushReason =
      "still running " + inSeconds(lastGrace) + " after the second signal";
}

/// Returns true if a program with this exit status was ended by a forwarded
/// signal, or has ended as a trainer does that learns of the signal from other
/// processes.
bool Supervisor::hasFollowed(int status) const {
  const auto passed = [this](int number) {
    return passedSignals.count(number) > 0;
  };
  return passed(status - 128) ||
         (status == 128 + SIGTERM && (passed(SIGINT) || passed(SIGHUP) ||
                                      passed(SIGXCPU) || passed(SIGUSR1)));
}

void Supervisor::noteEnd(const Program &program) {
  const int status = program.exitStatus();
  if (status != 0 && !hasFollowed(status))
    output.warn(program.endMessage());
  else if (status != 0 || !passedSignals.empty() || firstFailure != 0)
    output.say(program.endMessage());
  // A program that rejected its flags never joined the others.
  if (status != 0 && !hasFollowed(status))
    noteFailure(status, /*hasStarted=*/status != statusOf(ExitCode::Usage),
                program.endMessage());
  else if (!passedSignals.empty())
    noteStop(status);
  // The other programs should end soon after this one. If they do not, the
  // launcher reminds the user.
  nextReminder = Clock::now() + reminderInterval;
}

void Supervisor::noteFailure(int status, bool hasStarted,
                             const std::string &message) {
  if (firstFailure != 0)
    return;
  firstFailure = status;
  failureMessage = message;
  isUnstarted = !hasStarted;
  if (isUnstarted)
    pushAfter(std::chrono::seconds(0), "because a program did not start");
  else
    pushAfter(grace,
              "still running " + inSeconds(grace) + " after the first failure");
}

/// Records that a program has shut down gracefully, and sets the time limit for
/// the other programs. They receive no signal before: they are shutting down
/// too, may be writing the last checkpoint, and one more signal would end them
/// at once.
void Supervisor::noteStop(int status) {
  const bool isFirst = !hasStopped;
  hasStopped = true;
  if (stopStatus == 0)
    stopStatus = status;
  if (!isFirst || firstFailure != 0)
    return;
  const std::chrono::seconds time =
      std::min<std::chrono::seconds>(stopFactor * grace, longestTime);
  pushAfter(time, "still running " + inSeconds(time) +
                      " after the first one has stopped");
}

void Supervisor::pushAfter(std::chrono::seconds time, std::string reason) {
  // A grace period of 0 means no limit.
  if (grace.count() == 0 && !isUnstarted)
    return;
  const Clock::time_point when = Clock::now() + time;
  if (when >= nextPush)
    return;
  nextPush = when;
  if (nextSignal == SIGTERM)
    pushReason = std::move(reason);
}

void Supervisor::endTheRest() {
  const Clock::time_point now = Clock::now();
  if (runningCount() == 0)
    return;
  if (now >= nextPush) {
    output.warn("sends " + nameOf(nextSignal) + " to " + runningNames() + ", " +
                pushReason);
    for (const Program &program : programs)
      program.signal(nextSignal);
    nextPush = nextSignal == SIGTERM && grace.count() > 0
                   ? now + grace
                   : Clock::time_point::max();
    nextSignal = SIGKILL;
    pushReason = "still running " + inSeconds(grace) + " after that";
  }
  if (now >= nextReminder) {
    output.say("waits for " + runningNames());
    nextReminder = now + reminderInterval;
  }
}

void Supervisor::showStatus() {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started)
          .count();
  output.setStatus(std::to_string(seconds) + " s, " +
                   std::to_string(runningCount()) + " of " +
                   std::to_string(programs.size()) + " programs run");
}

size_t Supervisor::runningCount() const {
  return static_cast<size_t>(
      std::count_if(programs.begin(), programs.end(),
                    [](const Program &program) { return program.running(); }));
}

std::string Supervisor::runningNames() const {
  std::string names;
  for (const Program &program : programs)
    if (program.running())
      names += (names.empty() ? "" : ", ") + program.name;
  return names;
}
