//===- Clock.h - Time and timers, real or by hand ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever waits, retries or times out asks a clock. Under a manual clock a
// whole cluster runs in one thread, and the same events give the same run.
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

/// Time since the clock was made, which never runs backwards.
using ClockTime = std::chrono::nanoseconds;

/// In whole seconds, for people: "3 s".
std::string inSeconds(ClockTime time);

/// A clock with timers.
class Clock {
public:
  virtual ~Clock();
  virtual ClockTime now() const = 0;
  /// Calls `action` once at `when`, or as soon as possible where that has
  /// passed; never from within this call. Actions of one clock run one after
  /// the other, by time, and in the order of these calls at equal times.
  virtual void runAt(ClockTime when, std::function<void()> action) = 0;

  void runAfter(ClockTime delay, std::function<void()> action) {
    runAt(now() + delay, std::move(action));
  }
};

/// Time passes only as the caller runs the actions. Not thread-safe.
class ManualClock final : public Clock {
public:
  ManualClock() = default;
  ManualClock(const ManualClock &) = delete;
  ManualClock &operator=(const ManualClock &) = delete;
  ~ManualClock() override;
  ClockTime now() const override { return time; }
  void runAt(ClockTime when, std::function<void()> action) override;

  /// Moves to the next action and runs it; false where there is none.
  bool runNext();
  /// Runs all actions up to `when`, those that they add too, then moves there.
  void advanceTo(ClockTime when);
  size_t pending() const { return actions.size(); }

private:
  ClockTime time{0};
  uint64_t nextNumber = 0;
  std::map<std::pair<ClockTime, uint64_t>, std::function<void()>> actions;
};

/// The machine's steady clock; actions run on one thread of its own.
/// Thread-safe. The destructor waits for a running action and drops the rest.
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
