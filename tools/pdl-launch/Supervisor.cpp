//===- Supervisor.cpp - Runs programs to their end ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Supervisor.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::Status;

/// What a user or a batch system sends to a job.
static constexpr int passedOn[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                   SIGXCPU, SIGUSR1, SIGUSR2};
/// The status of a program that does not understand its flags.
static constexpr int badFlags = 2;
/// Who stops in order may be writing much: so many times the grace is its time.
static constexpr int stopFactor = 10;
/// Between a second request to stop and SIGKILL: only for a last line.
static constexpr std::chrono::seconds lastGrace(1);
/// Later than any job ends, and no later than clocks can tell.
static constexpr std::chrono::hours longestTime(24 * 365 * 100);
/// How often programs that keep a job from ending are named.
static constexpr std::chrono::seconds reminderInterval(10);

static std::string nameOf(int signal) {
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

static std::string inSeconds(std::chrono::seconds time) {
  return std::to_string(time.count()) + " s";
}

static bool isIgnored(int number) {
  struct sigaction action = {};
  return number == SIGHUP && ::sigaction(number, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

Supervisor::~Supervisor() {
  if (signals >= 0)
    ::close(signals);
}

int Supervisor::run() {
  if (const Status status = watchSignals(); !status.ok()) {
    output.say(status.message());
    return 2;
  }
  start();
  while (runningCount() > 0) {
    showStatus();
    wait();
    endTheRest();
  }
  return firstFailure != 0 ? firstFailure : stopStatus;
}

Status Supervisor::watchSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : passedOn)
    // What is ignored here (nohup) is ignored there.
    if (!isIgnored(number))
      sigaddset(&set, number);
  if (::sigprocmask(SIG_BLOCK, &set, &before) != 0)
    return Status::internal(std::string("cannot wait for signals: ") +
                            std::strerror(errno));
  // A reader of our lines that has gone ends no job.
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
    output.say(status.message());
    noteFailure(2);
    return;
  }
}

void Supervisor::wait() {
  std::vector<pollfd> ready{{signals, POLLIN, 0}};
  std::vector<std::pair<Program *, int>> sources{{nullptr, 0}};
  for (Program &program : programs)
    for (int pipe = 0; pipe < 2; ++pipe)
      if (program.pipes()[pipe] >= 0) {
        ready.push_back({program.pipes()[pipe], POLLIN, 0});
        sources.emplace_back(&program, pipe);
      }
  constexpr int milliseconds = 500;
  if (::poll(ready.data(), ready.size(), milliseconds) <= 0)
    return;
  for (size_t i = 1; i < ready.size(); ++i)
    if (ready[i].revents)
      sources[i].first->forward(sources[i].second, output);
  if (ready[0].revents)
    takeSignals();
}

void Supervisor::takeSignals() {
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof(info)) == sizeof(info))
    if (info.ssi_signo != SIGCHLD)
      passOn(static_cast<int>(info.ssi_signo));
  // One SIGCHLD may stand for several.
  for (Program &program : programs)
    if (program.collect(output))
      noteEnd(program);
}

void Supervisor::passOn(int number) {
  // It asks programs for a checkpoint, and nobody to end.
  if (number != SIGUSR2)
    passedSignals.insert(number);
  output.say("passes " + nameOf(number) + " on to " + runningNames());
  for (const Program &program : programs)
    program.signal(number);
  if ((number == SIGINT || number == SIGTERM) && ++stopRequests == 2)
    killSoon();
}

/// A second signal ends each program at once, except for one that hangs or is
/// stopped.
void Supervisor::killSoon() {
  nextPush = std::min(nextPush, Clock::now() + lastGrace);
  nextSignal = SIGKILL;
  pushReason =
      "still running " + inSeconds(lastGrace) + " after the second signal";
}

/// Whether a program ended as it was told: by a signal that was passed on, or
/// as trainers do that hear of it from others.
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
  if (status != 0 || !passedSignals.empty() || firstFailure != 0)
    output.say(program.endSentence());
  if (status != 0 && !hasFollowed(status))
    noteFailure(status);
  else if (!passedSignals.empty())
    noteStop(status);
  // From the first end on, the others should follow.
  nextReminder = Clock::now() + reminderInterval;
}

void Supervisor::noteFailure(int status) {
  if (firstFailure != 0)
    return;
  firstFailure = status;
  // Who was refused for its flags never came to the others.
  if (status == badFlags)
    pushAfter(std::chrono::seconds(0), "because a program did not start");
  else
    pushAfter(grace,
              "still running " + inSeconds(grace) + " after the first failure");
}

/// Others stop in order too, and may be writing the last checkpoint: one more
/// signal would end them at once.
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
  // A grace of 0 is one without an end.
  if (grace.count() == 0 && firstFailure != badFlags)
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
    output.say("sends " + nameOf(nextSignal) + " to " + runningNames() + ", " +
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
