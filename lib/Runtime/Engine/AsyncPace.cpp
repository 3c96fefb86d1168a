//===- AsyncPace.cpp - Coordination of asynchronous workers ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/AsyncPace.h"
#include "pdlrt/Core/Mutex.h"

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

void AsyncPace::endPass(MutexLock &lock) {
  abandoned = true;
  changed.notify_all();
  changed.wait(lock, [this]() PDLRT_REQUIRES(mutex) { return allHaveLeft(); });
  abandoned = false;
}

void AsyncPace::abandon() {
  MutexLock lock(mutex);
  endPass(lock);
}

void AsyncPace::beginPass() { resumePass({}); }

void AsyncPace::resumePass(const PassAt &at) {
  MutexLock lock(mutex);
  endPass(lock);
  takenSteps = at.taken;
  limit = begun = at.begun;
  allowed =
      at.allowed > INT64_MAX - at.taken ? INT64_MAX : at.taken + at.allowed;
  lastAllowed = at.last;
  lastAtLimit = at.last && allowed == limit;
  outOfData = false;
  read = at.round;
  // Requests the round that the first step reads.
  wanted = at.round + 1;
  for (Seat &seat : seats)
    seat = {true, -1};
  changed.notify_all();
}

void AsyncPace::allow(int64_t steps, bool last) {
  const MutexLock lock(mutex);
  // `steps` may be unlimited.
  allowed = steps > INT64_MAX - takenSteps ? INT64_MAX : takenSteps + steps;
  lastAllowed = last;
}

void AsyncPace::requestStep(bool last) {
  const MutexLock lock(mutex);
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
  MutexLock lock(mutex);
  while (true) {
    if (!firstFailure.ok()) {
      changed.wait(lock,
                   [this]() PDLRT_REQUIRES(mutex) { return allHaveLeft(); });
      return Event::Failed;
    }
    // After the last allowed step, the driver thread reads the state. So it
    // must wait until all pushes have arrived.
    if (allHaveDone(takenSteps + 1) &&
        (takenSteps + 1 < limit || allHaveArrived()))
      return Event::Done;
    if (outOfData && takenSteps == read) {
      changed.wait(lock,
                   [this]() PDLRT_REQUIRES(mutex) { return allHaveLeft(); });
      return Event::OutOfData;
    }
    if (isReadWanted())
      return Event::Read;
    changed.wait(lock);
  }
}

AsyncPace::Event AsyncPace::waitForRest() {
  MutexLock lock(mutex);
  lowerLimit(std::max(begun, takenSteps));
  while (true) {
    if (isBroken()) {
      changed.wait(lock,
                   [this]() PDLRT_REQUIRES(mutex) { return allHaveLeft(); });
      return Event::Failed;
    }
    if (std::all_of(seats.begin(), seats.end(),
                    [this](const Seat &seat) PDLRT_REQUIRES(mutex) {
                      return !seat.inPass ||
                             (seat.done >= limit && !seat.underWay);
                    }))
      return Event::Done;
    if (isReadWanted())
      return Event::Read;
    changed.wait(lock);
  }
}

void AsyncPace::noteTaken() {
  const MutexLock lock(mutex);
  ++takenSteps;
  changed.notify_all();
}

int64_t AsyncPace::taken() const {
  const MutexLock lock(mutex);
  return takenSteps;
}

int64_t AsyncPace::roundsRead() const {
  const MutexLock lock(mutex);
  return read;
}

void AsyncPace::noteRead(bool exists) {
  const MutexLock lock(mutex);
  read += exists ? 1 : 0;
  outOfData = !exists;
  changed.notify_all();
}

Status AsyncPace::failure() const {
  const MutexLock lock(mutex);
  return firstFailure;
}

bool AsyncPace::isOver() {
  const MutexLock lock(mutex);
  if (!stopSeen || begun > takenSteps)
    return false;
  lowerLimit(takenSteps);
  return true;
}

void AsyncPace::quit() {
  const MutexLock lock(mutex);
  quitting = true;
  changed.notify_all();
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

bool AsyncPace::waitForPass(int worker) {
  MutexLock lock(mutex);
  changed.wait(lock, [this, worker]() PDLRT_REQUIRES(mutex) {
    return quitting || seats[worker].inPass;
  });
  return !quitting;
}

void AsyncPace::leavePass(int worker) {
  const MutexLock lock(mutex);
  seats[worker].inPass = false;
  changed.notify_all();
}

AsyncPace::Turn AsyncPace::waitForTurn(int worker, int64_t step) {
  MutexLock lock(mutex);
  const auto mayBegin = [this, step]() PDLRT_REQUIRES(mutex) {
    return step < limit && step < takenSteps + lead;
  };
  if (!isBroken() && !mayBegin() && seats[worker].underWay)
    return Turn::Drain;
  changed.wait(
      lock, [&]() PDLRT_REQUIRES(mutex) { return isBroken() || mayBegin(); });
  if (isBroken())
    return Turn::None;
  begun = std::max(begun, step + 1);
  if (lastAtLimit && step + 1 == limit)
    return Turn::LastStep;
  // Requests the round of the next step, so that the driver reads it while the
  // worker computes.
  wanted = std::max(wanted, step + 2);
  changed.notify_all();
  return Turn::Step;
}

bool AsyncPace::waitForRound(int64_t round) {
  MutexLock lock(mutex);
  if (wanted <= round) {
    wanted = round + 1;
    changed.notify_all();
  }
  changed.wait(lock, [this, round]() PDLRT_REQUIRES(mutex) {
    return isBroken() || outOfData || round < read;
  });
  return !isBroken() && round < read;
}

void AsyncPace::noteDone(int worker, int64_t steps, bool underWay) {
  const MutexLock lock(mutex);
  seats[worker].done = steps;
  seats[worker].underWay = underWay;
  changed.notify_all();
}

void AsyncPace::noteStop() {
  const MutexLock lock(mutex);
  stopSeen = true;
  // The driver may be waiting for one more step.
  lowerLimit(std::max(begun, takenSteps + 1));
  changed.notify_all();
}

void AsyncPace::fail(Status status) {
  const MutexLock lock(mutex);
  if (firstFailure.ok())
    firstFailure = std::move(status);
  changed.notify_all();
}
