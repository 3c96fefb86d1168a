//===- Clock.h - Time and timers, real or manual ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All code that waits, retries or times out uses a Clock. With a ManualClock,
// tests run a whole cluster in one thread, and repeat a run exactly.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_CLOCK_H
#define PDLRT_CORE_CLOCK_H

#include "pdlrt/Core/Mutex.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>

namespace pdlrt {

/// Time since the clock was created; never decreases.
using ClockTime = std::chrono::nanoseconds;

/// Returns `time` in whole seconds as text for messages, such as "3 s".
std::string inSeconds(ClockTime time);

/// A clock with timers.
class Clock {
public:
  virtual ~Clock();
  virtual ClockTime now() const = 0;
  /// Calls `action` once at the time `when`, or as soon as possible if that
  /// time has passed. `runAt` itself never calls `action`. The actions of a
  /// clock run one after the other, ordered by time; actions for the same time
  /// run in the order of these calls.
  virtual void runAt(ClockTime when, std::function<void()> action) = 0;

  void runAfter(ClockTime delay, std::function<void()> action) {
    runAt(now() + delay, std::move(action));
  }
};

/// A clock for tests, whose time advances only in `runNext` and `advanceTo`.
/// Not thread-safe.
class ManualClock final : public Clock {
public:
  ManualClock() = default;
  ManualClock(const ManualClock &) = delete;
  ManualClock &operator=(const ManualClock &) = delete;
  ~ManualClock() override;
  ClockTime now() const override { return time; }
  void runAt(ClockTime when, std::function<void()> action) override;

  /// Advances the time to the next action and runs the action. Returns false if
  /// there is no action.
  bool runNext();
  /// Runs all actions that are scheduled up to `when`, also those that these
  /// actions add. Then advances the time to `when`.
  void advanceTo(ClockTime when);
  size_t pending() const { return actions.size(); }

private:
  ClockTime time{0};
  uint64_t nextNumber = 0;
  std::map<std::pair<ClockTime, uint64_t>, std::function<void()>> actions;
};

/// The machine's steady clock. It has a thread, which runs the actions. The
/// destructor waits for a running action and drops the others. Thread-safe.
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
  Mutex mutex;
  ConditionVariable changed;
  bool stopping PDLRT_GUARDED_BY(mutex) = false;
  uint64_t nextNumber PDLRT_GUARDED_BY(mutex) = 0;
  std::map<std::pair<ClockTime, uint64_t>, std::function<void()>>
      actions PDLRT_GUARDED_BY(mutex);
  std::thread thread;
};

} // namespace pdlrt

#endif // PDLRT_CORE_CLOCK_H
