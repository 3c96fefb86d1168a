//===- Clock.cpp - Time and timers, real or manual ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Clock.h"

#include <algorithm>

using namespace pdlrt;

std::string pdlrt::inSeconds(ClockTime time) {
  return std::to_string(
             std::chrono::duration_cast<std::chrono::seconds>(time).count()) +
         " s";
}

Clock::~Clock() = default;

/// Destroys actions. Their destructors may add other actions.
static void dropAll(
    std::map<std::pair<ClockTime, uint64_t>, std::function<void()>> &actions) {
  while (!actions.empty())
    std::exchange(actions, {}).clear();
}

ManualClock::~ManualClock() { dropAll(actions); }

void ManualClock::runAt(ClockTime when, std::function<void()> action) {
  actions.emplace(std::pair(std::max(when, time), nextNumber++),
                  std::move(action));
}

bool ManualClock::runNext() {
  if (actions.empty())
    return false;
  auto node = actions.extract(actions.begin());
  time = node.key().first;
  node.mapped()();
  return true;
}

void ManualClock::advanceTo(ClockTime when) {
  while (!actions.empty() && actions.begin()->first.first <= when)
    runNext();
  time = std::max(time, when);
}

RealClock::RealClock()
    : start(std::chrono::steady_clock::now()), thread([this] { loop(); }) {}

RealClock::~RealClock() {
  {
    const MutexLock lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
  dropAll(actions);
}

ClockTime RealClock::now() const {
  return std::chrono::steady_clock::now() - start;
}

void RealClock::runAt(ClockTime when, std::function<void()> action) {
  // A time in the past counts as now. Otherwise this action would run before
  // actions that were added earlier and are due already.
  when = std::max(when, now());
  {
    const MutexLock lock(mutex);
    actions.emplace(std::pair(when, nextNumber++), std::move(action));
  }
  changed.notify_all();
}

void RealClock::loop() {
  MutexLock lock(mutex);
  while (!stopping) {
    if (actions.empty()) {
      changed.wait(lock);
      continue;
    }
    const ClockTime when = actions.begin()->first.first;
    if (when > now()) {
      changed.wait_until(lock, start + when);
      continue;
    }
    auto node = actions.extract(actions.begin());
    lock.unlock();
    node.mapped()();
    // Destroy the action while the mutex is not locked, because the destructor
    // of the action may call this clock.
    node = {};
    lock.lock();
  }
}
