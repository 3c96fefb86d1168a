//===- ServerCoreLife.cpp - The begin and the end of a server's job -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ServerCoreState.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

/// After a request to stop: how long trainers that have not joined yet may take
/// to hear of it.
static constexpr ClockTime stopPatience = std::chrono::seconds(2);

//===----------------------------------------------------------------------===//
// The job's begin
//===----------------------------------------------------------------------===//

void ServerCore::State::setProgress(const std::string &sentence) {
  const std::lock_guard lock(mutex);
  loading = sentence;
}

void ServerCore::State::open(ServerApplication &with) {
  const std::lock_guard lock(mutex);
  application = &with;
  roster.start();
}

//===----------------------------------------------------------------------===//
// The job's end
//===----------------------------------------------------------------------===//

void ServerCore::State::askToStop() {
  Outbox out;
  {
    const std::lock_guard lock(mutex);
    beginStop(out);
  }
  out.send();
}

void ServerCore::State::beginStop(Outbox &out) {
  if (isStopping() || job.state != JobState::Running)
    return;
  stopSince = clock.now();
  checkWhoIsThere(out);
}

void ServerCore::State::failWith(std::string sentence, Outbox &out) {
  if (job.state != JobState::Running)
    return;
  endWith(JobState::Failed, std::move(sentence), out);
  for (auto &[key, copies] : waiting)
    for (Waiting &copy : std::exchange(copies, {}))
      out.refuse(std::move(copy.responder), copy.head, job.sentence);
}

void ServerCore::State::endWith(JobState state, std::string sentence,
                                Outbox &out) {
  job = {state, std::move(sentence)};
  out.whenSent(std::exchange(overAction, nullptr));
  changed.notify_all();
}

void ServerCore::State::fail(const std::string &sentence) {
  Outbox out;
  {
    const std::lock_guard lock(mutex);
    failWith(sentence, out);
  }
  out.send();
}

void ServerCore::State::failWithTrainer(uint32_t rank, const std::string &why) {
  Outbox out;
  {
    const std::lock_guard lock(mutex);
    roster.leave(rank, why);
    failWith(trainerName(rank) + " failed: " + why, out);
  }
  out.send();
}

void ServerCore::State::whenOver(std::function<void()> action) {
  const std::lock_guard lock(mutex);
  if (job.state == JobState::Running)
    overAction = std::move(action);
  else
    clock.runAt(clock.now(), std::move(action));
}

bool ServerCore::State::waitUntilTold(std::chrono::nanoseconds limit) const {
  // Silence is no event.
  constexpr std::chrono::milliseconds interval(100);
  const auto end = std::chrono::steady_clock::now() + limit;
  std::unique_lock lock(mutex);
  while (!isTold()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end)
      return false;
    changed.wait_until(lock, std::min<decltype(end)>(end, now + interval));
  }
  return true;
}

void ServerCore::State::close() {
  // Waits for a request that is worked on: the application goes next.
  const std::lock_guard applicationLock(applicationMutex);
  std::map<SenderKey, std::deque<Waiting>> dropped;
  std::deque<Reader> droppedReaders;
  const std::lock_guard lock(mutex);
  closed = true;
  dropped.swap(waiting);
  droppedReaders.swap(readers);
  overAction = nullptr;
}

//===----------------------------------------------------------------------===//
// Who is there
//===----------------------------------------------------------------------===//

void ServerCore::State::watchAt(ClockTime when) {
  clock.runAt(when, [weak = weak_from_this(), when] {
    if (const auto self = weak.lock())
      self->watch(when);
  });
}

void ServerCore::State::watch(ClockTime expected) {
  Outbox out;
  {
    const std::lock_guard lock(mutex);
    if (closed)
      return;
    const ClockTime late = clock.now() - expected;
    if (late > roster.watchInterval())
      roster.forgive(late);
    roster.lookForDead();
    checkWhoIsThere(out);
    watchAt(clock.now() + roster.watchInterval());
  }
  out.send();
}

/// Fails the job for who is lost, where nobody waits for the lost.
void ServerCore::State::checkWhoIsThere(Outbox &out) {
  if (!application) {
    if (isStopping() && clock.now() - stopSince >= stopPatience)
      failWith("told to stop while it was " + loading, out);
    return;
  }
  if (waitsForLost()) {
    checkWhoMayComeBack(out);
    return;
  }
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (const std::string fault = roster.absenceOf(rank); !fault.empty())
      failWith(fault, out);
  if (!isStopping())
    return;
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (roster.hasFailed(rank))
      failWith("told to stop; " + roster.troubleOf(rank), out);
  // Nothing is lost: no step was done without them.
  if (const std::vector<uint32_t> missing = roster.notJoined();
      !missing.empty() && clock.now() - stopSince >= stopPatience)
    failWith("told to stop before " + trainerNames(missing) + " had joined",
             out);
}

/// Where others wait for who is lost: fails the job where nobody can come.
void ServerCore::State::checkWhoMayComeBack(Outbox &out) {
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (roster.hasDied(rank) && cannotComeBack(rank))
      failWith(roster.troubleOf(rank) + ", and" + thatCannotComeBack, out);
  if (const std::string fault = roster.absenceOfAll(); !fault.empty())
    failWith(fault, out);
  if (options.newStartsGoOn)
    return;
  if (const std::string fault = roster.abandonment(); !fault.empty())
    failWith(fault, out);
}

std::string ServerCore::State::waitingSentence(ClockTime atLeast) const {
  if (job.state != JobState::Running)
    return {};
  if (!application)
    return loading;
  std::string troubles;
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (const std::string trouble = roster.troubleOf(rank); !trouble.empty())
      troubles += (troubles.empty() ? "" : "; ") + trouble;
  std::vector<uint32_t> due = roster.notJoined();
  if (!due.empty())
    return "waiting for " + trainerNames(due) + " to join (" +
           inSeconds(roster.sinceStart()) +
           (troubles.empty() ? "" : "; " + troubles) + ")";

  const ClockTime now = clock.now();
  for (const OpenRound *round : {&steps, &sums}) {
    for (uint32_t rank = 0; rank < options.trainers; ++rank)
      if (now - round->since() >= atLeast &&
          round->waitsFor(application->roundPolicy(), rank))
        due.push_back(rank);
    if (!due.empty())
      return "waiting for the " + std::string(nameOf(round->kind())) + " of " +
             trainerNames(due) + " (" + inSeconds(now - round->since()) +
             (troubles.empty() ? "" : "; " + troubles) + ")";
  }
  if (!slowTrainers.empty() && now - heldSince >= atLeast)
    return "waiting for " + trainerNames(slowTrainers) +
           ", which others are as far ahead of as --max-staleness allows (" +
           inSeconds(now - heldSince) +
           (troubles.empty() ? "" : "; " + troubles) + ")";
  return troubles.empty() ? "" : "waiting: " + troubles;
}
