//===- AsyncPace.cpp - Who may go on in mode async ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/AsyncPace.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

bool AsyncPace::allHaveLeft() const {
  return std::none_of(seats.begin(), seats.end(),
                      [](const Seat &seat) { return seat.inPass; });
}

bool AsyncPace::allHaveDone(int64_t steps) const {
  return std::all_of(seats.begin(), seats.end(),
                     [steps](const Seat &seat) { return seat.done >= steps; });
}

bool AsyncPace::allHaveArrived() const {
  return std::none_of(seats.begin(), seats.end(),
                      [](const Seat &seat) { return seat.underWay; });
}

void AsyncPace::lowerLimit(int64_t steps) {
  if (steps >= limit)
    return;
  limit = steps;
  lastAtLimit = false;
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

void AsyncPace::endPass(std::unique_lock<std::mutex> &lock) {
  abandoned = true;
  changed.notify_all();
  changed.wait(lock, [this] { return allHaveLeft(); });
  abandoned = false;
}

void AsyncPace::abandon() {
  std::unique_lock lock(mutex);
  endPass(lock);
}

void AsyncPace::beginPass() { resumePass({}); }

void AsyncPace::resumePass(const PassAt &at) {
  std::unique_lock lock(mutex);
  endPass(lock);
  takenSteps = at.taken;
  limit = begun = at.begun;
  allowed =
      at.allowed > INT64_MAX - at.taken ? INT64_MAX : at.taken + at.allowed;
  lastAllowed = at.last;
  lastAtLimit = at.last && allowed == limit;
  outOfData = false;
  read = at.round;
  // What the first step reads.
  wanted = at.round + 1;
  for (Seat &seat : seats)
    seat = {true, -1};
  changed.notify_all();
}

void AsyncPace::allow(int64_t steps, bool last) {
  const std::lock_guard lock(mutex);
  // There may be no bound at all.
  allowed = steps > INT64_MAX - takenSteps ? INT64_MAX : takenSteps + steps;
  lastAllowed = last;
}

void AsyncPace::askForStep(bool last) {
  const std::lock_guard lock(mutex);
  if (!stopSeen && allowed >= limit) {
    limit = allowed;
    lastAtLimit = lastAllowed;
  }
  if (limit <= takenSteps) {
    limit = takenSteps + 1;
    lastAtLimit = last;
  }
  changed.notify_all();
}

AsyncPace::Event AsyncPace::waitForStep() {
  std::unique_lock lock(mutex);
  while (true) {
    if (!firstFailure.ok()) {
      changed.wait(lock, [this] { return allHaveLeft(); });
      return Event::Failed;
    }
    // Behind the last one that may begin, the driver looks at the state.
    if (allHaveDone(takenSteps + 1) &&
        (takenSteps + 1 < limit || allHaveArrived()))
      return Event::Done;
    if (outOfData && takenSteps == read) {
      changed.wait(lock, [this] { return allHaveLeft(); });
      return Event::OutOfData;
    }
    if (isReadWanted())
      return Event::Read;
    changed.wait(lock);
  }
}

AsyncPace::Event AsyncPace::waitForRest() {
  std::unique_lock lock(mutex);
  lowerLimit(std::max(begun, takenSteps));
  while (true) {
    if (isBroken()) {
      changed.wait(lock, [this] { return allHaveLeft(); });
      return Event::Failed;
    }
    if (std::all_of(seats.begin(), seats.end(), [this](const Seat &seat) {
          return !seat.inPass || (seat.done >= limit && !seat.underWay);
        }))
      return Event::Done;
    if (isReadWanted())
      return Event::Read;
    changed.wait(lock);
  }
}

void AsyncPace::noteTaken() {
  const std::lock_guard lock(mutex);
  ++takenSteps;
  changed.notify_all();
}

int64_t AsyncPace::taken() const {
  const std::lock_guard lock(mutex);
  return takenSteps;
}

int64_t AsyncPace::roundsRead() const {
  const std::lock_guard lock(mutex);
  return read;
}

void AsyncPace::noteRead(bool exists) {
  const std::lock_guard lock(mutex);
  read += exists ? 1 : 0;
  outOfData = !exists;
  changed.notify_all();
}

Status AsyncPace::failure() const {
  const std::lock_guard lock(mutex);
  return firstFailure;
}

bool AsyncPace::isOver() {
  const std::lock_guard lock(mutex);
  if (!stopSeen || begun > takenSteps)
    return false;
  lowerLimit(takenSteps);
  return true;
}

void AsyncPace::quit() {
  const std::lock_guard lock(mutex);
  quitting = true;
  changed.notify_all();
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

bool AsyncPace::waitForPass(int worker) {
  std::unique_lock lock(mutex);
  changed.wait(lock,
               [this, worker] { return quitting || seats[worker].inPass; });
  return !quitting;
}

void AsyncPace::leavePass(int worker) {
  const std::lock_guard lock(mutex);
  seats[worker].inPass = false;
  changed.notify_all();
}

AsyncPace::Turn AsyncPace::waitForTurn(int worker, int64_t step) {
  std::unique_lock lock(mutex);
  const auto mayBegin = [this, step] {
    return step < limit && step < takenSteps + lead;
  };
  if (!isBroken() && !mayBegin() && seats[worker].underWay)
    return Turn::Drain;
  changed.wait(lock, [&] { return isBroken() || mayBegin(); });
  if (isBroken())
    return Turn::None;
  begun = std::max(begun, step + 1);
  if (lastAtLimit && step + 1 == limit)
    return Turn::LastStep;
  // The driver reads while the worker computes.
  wanted = std::max(wanted, step + 2);
  changed.notify_all();
  return Turn::Step;
}

bool AsyncPace::waitForRound(int64_t round) {
  std::unique_lock lock(mutex);
  if (wanted <= round) {
    wanted = round + 1;
    changed.notify_all();
  }
  changed.wait(
      lock, [this, round] { return isBroken() || outOfData || round < read; });
  return !isBroken() && round < read;
}

void AsyncPace::noteDone(int worker, int64_t steps, bool underWay) {
  const std::lock_guard lock(mutex);
  seats[worker].done = steps;
  seats[worker].underWay = underWay;
  changed.notify_all();
}

void AsyncPace::noteStop() {
  const std::lock_guard lock(mutex);
  stopSeen = true;
  // The driver may be waiting for one more.
  lowerLimit(std::max(begun, takenSteps + 1));
  changed.notify_all();
}

void AsyncPace::fail(Status status) {
  const std::lock_guard lock(mutex);
  if (firstFailure.ok())
    firstFailure = std::move(status);
  changed.notify_all();
}
