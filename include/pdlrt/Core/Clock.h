//===- Clock.h - Time and timers, real or manual ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All code that waits, retries or times out uses a clock. With a manual clock,
// a whole cluster runs in one thread, and the same events give the same run.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_CLOCK_H
#define PDLRT_CORE_CLOCK_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace pdlrt {

/// Time since the clock was created; never decreases.
using ClockTime = std::chrono::nanoseconds;

/// Returns the time in whole seconds, for messages: "3 s".
std::string inSeconds(ClockTime time);

/// A clock with timers.
class Clock {
public:
  virtual ~Clock();
  virtual ClockTime now() const = 0;
  /// Calls `action` once at `when`, or as soon as possible if that time has
  /// passed, but never from within this call. The actions of a clock run one
  /// after the other, ordered by time, and at equal times in the order of these
  /// calls.
  virtual void runAt(ClockTime when, std::function<void()> action) = 0;

  void runAfter(ClockTime delay, std::function<void()> action) {
    runAt(now() + delay, std::move(action));
  }
};

/// A clock that advances only when the caller runs actions. Not thread-safe.
class ManualClock final : public Clock {
public:
  ManualClock() = default;
  ManualClock(const ManualClock &) = delete;
  ManualClock &operator=(const ManualClock &) = delete;
  ~ManualClock() override;
  ClockTime now() const override { return time; }
  void runAt(ClockTime when, std::function<void()> action) override;

  /// Advances to the next action and runs it. Returns false if there is none.
  bool runNext();
  /// Runs all actions up to `when`, including those that they add, then
  /// advances to it.
  void advanceTo(ClockTime when);
  size_t pending() const { return actions.size(); }

private:
  ClockTime time{0};
  uint64_t nextNumber = 0;
  std::map<std::pair<ClockTime, uint64_t>, std::function<void()>> actions;
};

/// The machine's steady clock. Actions run on its own thread. Thread-safe. The
/// destructor waits for a running action and drops the others.
class RealClock final : public Clock {
public:
  RealClock();
  ~RealClock() override;
  RealClock(const RealClock &) = delete;
  RealClock &operator=(const RealClock &) = delete;
  ClockTime now() const override;
  void runAt(ClockTime when, std::function<void()> action) override;

private:
  void loop();

  const std::chrono::steady_clock::time_point start;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  uint64_t nextNumber = 0;
  std::map<std::pair<ClockTime, uint64_t>, std::function<void()>> actions;
  std::thread thread;
};

} // namespace pdlrt

#endif // PDLRT_CORE_CLOCK_H
