//===- Roster.cpp - Which trainers of a job are there ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/Roster.h"

#include <algorithm>

using namespace pdlrt;

std::string pdlrt::inSeconds(ClockTime time) {
  return std::to_string(
             std::chrono::duration_cast<std::chrono::seconds>(time).count()) +
         " s";
}

std::string pdlrt::trainerName(uint32_t rank) {
  return "trainer " + std::to_string(rank);
}

std::string pdlrt::trainerNames(const std::vector<uint32_t> &ranks) {
  std::string text = ranks.size() == 1 ? "trainer " : "trainers ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0)
      text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

/// A refusal that was sent may be lost: who was told may ask again for so long.
static constexpr ClockTime tellingTime = std::chrono::seconds(4);

Roster::Roster(const ServerCoreOptions &given, const Clock &by)
    : options(given), clock(by), started(by.now()), trainers(given.trainers) {}

bool Roster::join(const Envelope &head) {
  Trainer &trainer = trainers[head.trainer];
  if (trainer.joined && head.incarnation <= trainer.incarnation)
    return false;
  trainer = {};
  trainer.joined = true;
  trainer.incarnation = head.incarnation;
  return true;
}

void Roster::heard(uint32_t rank) {
  trainers[rank].lastHeard = std::max(trainers[rank].lastHeard, clock.now());
}

void Roster::sentBy(uint32_t rank, const ProcessIdentity &process) {
  // What cannot be seen while it lives says nothing when it cannot be seen.
  if (process != trainers[rank].process && process.isSeen())
    trainers[rank].process = process;
}

void Roster::leave(uint32_t rank, const std::string &failure) {
  Trainer &trainer = trainers[rank];
  if (trainer.left)
    return;
  trainer.left = true;
  trainer.failure = failure;
}

void Roster::told(uint32_t rank) {
  if (trainers[rank].toldAt < ClockTime(0))
    trainers[rank].toldAt = clock.now();
}

void Roster::forgive(ClockTime late) {
  started += late;
  for (Trainer &trainer : trainers)
    trainer.lastHeard = std::min(trainer.lastHeard + late, clock.now());
}

std::string Roster::joinFault(const Envelope &head) const {
  const Trainer &trainer = trainers[head.trainer];
  if (!trainer.joined)
    return {};
  const std::string starts = "start " + std::to_string(head.incarnation) +
                             " of " + trainerName(head.trainer) +
                             " is refused: start " +
                             std::to_string(trainer.incarnation);
  if (head.incarnation < trainer.incarnation)
    return starts + " has joined, which is later";
  if (head.incarnation == trainer.incarnation && !trainer.isDone())
    return {};
  // Under Wait, also after it has left: it may have died before it left all
  // servers.
  if (options.onFailure == FailurePolicy::Wait)
    return {};
  if (trainer.isDone())
    return starts + " has joined and left, and its part is done";
  return starts + " has joined: does a second process run as rank " +
         std::to_string(head.trainer) +
         "? A trainer that died cannot come back under --on-failure=abort";
}

std::string Roster::fenceFault(const Envelope &head) const {
  const Trainer &trainer = trainers[head.trainer];
  if (!trainer.joined || head.incarnation > trainer.incarnation)
    return trainerName(head.trainer) +
           " has not joined this server, or the server was started anew since: "
           "start the whole job again";
  if (head.incarnation < trainer.incarnation)
    return "start " + std::to_string(head.incarnation) + " of " +
           trainerName(head.trainer) + " is over: start " +
           std::to_string(trainer.incarnation) + " has joined";
  return {};
}

std::optional<uint32_t> Roster::firstThatIsDone() const {
  for (uint32_t rank = 0; rank < trainers.size(); ++rank)
    if (trainers[rank].isDone())
      return rank;
  return std::nullopt;
}

bool Roster::allAreDone() const {
  return std::all_of(trainers.begin(), trainers.end(),
                     [](const Trainer &each) { return each.isDone(); });
}

bool Roster::allFailed() const {
  return std::all_of(trainers.begin(), trainers.end(),
                     [](const Trainer &each) { return each.hasFailed(); });
}

bool Roster::allAreGone(bool mayJoin) const {
  return std::all_of(trainers.begin(), trainers.end(),
                     [this, mayJoin](const Trainer &each) {
                       return each.left || isSilent(each) || hasDied(each) ||
                              (each.toldAt >= ClockTime(0) &&
                               clock.now() - each.toldAt > tellingTime) ||
                              (!each.joined && (!mayJoin || joinIsLate()));
                     });
}

/// A trainer beats once a second: so much more may have passed since its last
/// one than since its network was cut.
static ClockTime withSlack(ClockTime limit) {
  return limit + std::min<ClockTime>(limit / 5, std::chrono::seconds(2));
}

bool Roster::isSilent(const Trainer &trainer) const {
  return trainer.joined && options.silenceLimit > ClockTime(0) &&
         clock.now() - trainer.lastHeard > withSlack(options.silenceLimit);
}

std::string Roster::deathOf(uint32_t rank) const {
  return trainerName(rank) + " has died: there is no process " +
         std::to_string(trainers[rank].process.number) + " on this host";
}

std::string Roster::silenceOf(uint32_t rank) const {
  return trainerName(rank) + " was not heard of for " +
         inSeconds(clock.now() - trainers[rank].lastHeard);
}

std::string Roster::absenceOf(uint32_t rank) const {
  const Trainer &trainer = trainers[rank];
  if (!trainer.joined && joinIsLate())
    return trainerName(rank) + " did not join for " + inSeconds(sinceStart()) +
           ": is it started?";
  if (!trainer.left && hasDied(trainer))
    return deathOf(rank) + " (under --on-failure=wait others would wait for "
                           "its new start)";
  if (!trainer.left && isSilent(trainer))
    return silenceOf(rank) +
           ": it has died or its network is cut (under --on-failure=wait "
           "others would wait for it)";
  return {};
}

std::vector<uint32_t> Roster::notJoined() const {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < trainers.size(); ++rank)
    if (!trainers[rank].joined)
      ranks.push_back(rank);
  return ranks;
}

std::string Roster::troubleOf(uint32_t rank) const {
  const Trainer &trainer = trainers[rank];
  if (trainer.hasFailed())
    return trainerName(rank) + " failed: " + trainer.failure;
  if (!trainer.left && hasDied(trainer))
    return deathOf(rank);
  if (!trainer.left && isSilent(trainer))
    return silenceOf(rank);
  return {};
}

ClockTime Roster::watchInterval() const {
  ClockTime interval = std::chrono::milliseconds(250);
  for (const ClockTime limit : {options.silenceLimit, options.joinLimit})
    if (limit > ClockTime(0))
      interval = std::min<ClockTime>(interval, limit / 4);
  return std::max<ClockTime>(interval, std::chrono::milliseconds(1));
}
