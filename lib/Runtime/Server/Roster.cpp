//===- Roster.cpp - Trainers of a job and their incarnations --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/Roster.h"

#include "pdlrt/Protocol/Heartbeat.h"

#include <algorithm>

using namespace pdlrt;

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

/// Maximum time that a message may be in flight after its process has died.
static constexpr ClockTime onItsWay = std::chrono::seconds(3);
/// Silence after which a restarted trainer may replace the earlier process, if
/// `silenceLimit` is 0.
static constexpr ClockTime silenceOfTheLost = std::chrono::seconds(10);
/// Maximum number of processes that may request the same rank at the same time.
/// If there are more, the oldest one is forgotten.
static constexpr size_t maxChallengers = 16;

/// Time for which the server stays after a process was refused or told about
/// the end of the job. That response may be lost, and the process may then
/// repeat its request.
static constexpr ClockTime tellingTime = std::chrono::seconds(4);

/// After a process with a wrong program was refused, time for the right process
/// to arrive. A starting trainer waits for servers equally long.
static constexpr ClockTime foreignPatience = std::chrono::seconds(60);

Roster::Roster(const ServerCoreOptions &given, const Clock &by)
    : options(given), clock(by), started(by.now()), trainers(given.trainers) {}

bool Roster::join(const Envelope &head, const StartSign &start) {
  Trainer &trainer = trainers[head.trainer];
  if (trainer.joined && head.incarnation <= trainer.incarnation)
    return false;
  trainer = {};
  trainer.joined = true;
  trainer.incarnation = head.incarnation;
  trainer.startId = start.id;
  trainer.joinedAt = clock.now();
  sentBy(head.trainer, start.process);
  return true;
}

uint64_t Roster::nextIncarnation(uint32_t rank) const {
  const Trainer &trainer = trainers[rank];
  return trainer.joined
             ? std::max(trainer.incarnation + 1, options.firstIncarnation)
             : options.firstIncarnation;
}

uint64_t Roster::newestIncarnation() const {
  uint64_t newest = 0;
  for (const Trainer &trainer : trainers)
    newest = std::max(newest, trainer.incarnation);
  return newest;
}

void Roster::greeted(uint32_t rank) {
  Trainer &trainer = trainers[rank];
  trainer.lastGreeted = clock.now();
  trainer.refusal.clear();
  trainer.foreignRefusal.clear();
}

void Roster::refused(uint32_t rank, const std::string &why) {
  if (trainers[rank].joined)
    return;
  trainers[rank].refusal = why;
  noteNotified(rank);
}

void Roster::refusedForeign(uint32_t rank, const std::string &why) {
  Trainer &trainer = trainers[rank];
  if (trainer.joined)
    return;
  trainer.foreignRefusal = why;
  trainer.foreignAt = clock.now();
}

void Roster::asks(uint32_t rank, const ProcessIdentity &process) {
  Trainer &trainer = trainers[rank];
  ProcessIdentity watched = process;
  if (process == trainer.asking || !watched.watch())
    return;
  trainer.asking = watched;
  trainer.askerHasDied = false;
}

void Roster::heard(uint32_t rank) {
  trainers[rank].lastHeard = std::max(trainers[rank].lastHeard, clock.now());
}

void Roster::sentBy(uint32_t rank, const ProcessIdentity &process) {
  // The process may have died while this message was in flight.
  Trainer &trainer = trainers[rank];
  ProcessIdentity watched = process;
  if (process == trainer.process || !watched.watch())
    return;
  trainer.process = watched;
  trainer.hasDied = false;
}

void Roster::lookForDead() {
  for (Trainer &trainer : trainers) {
    trainer.hasDied = isDead(trainer);
    trainer.askerHasDied = !trainer.joined && trainer.asking.hasEnded();
  }
}

void Roster::leave(uint32_t rank, const std::string &failure) {
  Trainer &trainer = trainers[rank];
  if (trainer.left)
    return;
  trainer.left = true;
  trainer.failure = failure;
}

void Roster::noteNotified(uint32_t rank) {
  trainers[rank].notifiedAt = clock.now();
}

void Roster::forgive(ClockTime late) {
  started += late;
  for (Trainer &trainer : trainers) {
    trainer.lastHeard = std::min(trainer.lastHeard + late, clock.now());
    trainer.foreignAt = std::min(trainer.foreignAt + late, clock.now());
    for (Challenger &each : trainer.challengers)
      each.since = std::min(each.since + late, clock.now());
  }
}

JoinVerdict Roster::judge(const Envelope &head, const StartSign &start) {
  using What = JoinVerdict::What;
  Trainer &trainer = trainers[head.trainer];
  if (!trainer.joined)
    return {};
  const bool isJoin = head.kind == MessageKind::Join;
  const bool isWait = options.onFailure == FailurePolicy::Wait;
  const std::string who = trainerName(head.trainer);
  if (start.id == trainer.startId &&
      (!isJoin || head.incarnation == trainer.incarnation)) {
    // Under --on-failure=wait, the process may join even after its Leave: it
    // may have died before its Leave has reached all servers.
    if (!trainer.isDone() || isWait)
      return {};
    return {What::Refused, "this start of " + who +
                               " has joined and left, and its part is done"};
  }
  if (isJoin && head.incarnation <= trainer.incarnation)
    return {What::Refused,
            "a start of " + who +
                " is refused: a later one has joined; does a second process "
                "run as rank " +
                std::to_string(head.trainer) + "?",
            mayLive(trainer)};
  if (!isWait && trainer.isDone())
    return {What::Refused, "a second start of " + who +
                               " is refused: the first one has "
                               "joined and left, and its part is "
                               "done"};
  if (!isWait)
    return {What::Refused,
            "a second start of " + who + " is refused: " + describe(trainer) +
                "; does a second process run as rank " +
                std::to_string(head.trainer) +
                ", or another job at these addresses? A trainer that died "
                "cannot rejoin under --on-failure=abort",
            mayLive(trainer)};
  return judgeAgainst(trainer, head, start);
}

/// Decides, under --on-failure=wait, whether a process that was restarted may
/// replace the process `earlier`, which has joined.
JoinVerdict Roster::judgeAgainst(Trainer &earlier, const Envelope &head,
                                 const StartSign &start) {
  using What = JoinVerdict::What;
  const std::string who = trainerName(head.trainer);
  if (start.claim == StartSign::Claim::Decided &&
      head.kind == MessageKind::Join)
    return {};
  if (start.claim == StartSign::Claim::OnlyIfFirst)
    return {What::Refused, "a start of " + who + " has joined before"};
  if (earlier.left || isDead(earlier) || isLost(earlier))
    return {};
  const ClockTime now = clock.now();
  auto &all = earlier.challengers;
  auto own = std::find_if(all.begin(), all.end(), [&](const Challenger &each) {
    return each.id == start.id;
  });
  if (own == all.end()) {
    if (all.size() >= maxChallengers)
      all.erase(all.begin());
    own = all.insert(all.end(), {start.id, now});
  }
  // A message of the earlier process proves that it is alive, unless the
  // message was in flight when that process died. Messages of the asking
  // process itself prove nothing.
  const bool isSeenHere = earlier.process.host != 0 &&
                          earlier.process != start.process &&
                          now - earlier.lastHeard <= onItsWay;
  if (isSeenHere || earlier.lastHeard > own->since + onItsWay)
    return {What::Refused,
            "a second start of " + who + " is refused: " + describe(earlier) +
                "; end that process first, or give this job addresses of its "
                "own",
            mayLive(earlier)};
  return {What::NotYet, "whether the earlier start of " + who +
                            " lives: " + describe(earlier) +
                            ", and counts as lost after a silence of " +
                            inSeconds(takeoverLimit())};
}

std::string Roster::describe(const Trainer &trainer) const {
  const ClockTime now = clock.now();
  return "the earlier one" +
         (trainer.process.host != 0
              ? ", process " + std::to_string(trainer.process.number) +
                    " of the server's host,"
              : "") +
         " joined " + inSeconds(now - trainer.joinedAt) +
         " ago and was heard of " + inSeconds(now - trainer.lastHeard) + " ago";
}

std::string Roster::fenceFault(const Envelope &head) const {
  const Trainer &trainer = trainers[head.trainer];
  if (!trainer.joined || head.incarnation > trainer.incarnation)
    return trainerName(head.trainer) +
           " has not joined this server, or the server was started anew since: "
           "start the whole job again";
  if (head.incarnation < trainer.incarnation)
    return "this start of " + trainerName(head.trainer) +
           " is over: a later one has joined";
  return {};
}

Envelope Roster::fenceHead(Envelope head) const {
  const Trainer &trainer = trainers[head.trainer];
  if (trainer.joined && head.incarnation < trainer.incarnation)
    head.incarnation = incarnationOfReplaced;
  return head;
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
  return std::all_of(trainers.begin(), trainers.end(), [](const Trainer &each) {
    return each.hasFailed() || !each.refusal.empty();
  });
}

bool Roster::allAreGone(bool mayJoin) const {
  return std::all_of(
      trainers.begin(), trainers.end(), [this, mayJoin](const Trainer &each) {
        return each.left || isSilent(each) || each.hasDied ||
               (each.notifiedAt >= ClockTime(0) &&
                clock.now() - each.notifiedAt > tellingTime) ||
               (!each.joined &&
                (!mayJoin || joinIsLate(each) || each.asking.hasEnded()));
      });
}

/// Returns the limit with some slack. The last heartbeat of a trainer may have
/// been sent up to a second before its network failed.
static ClockTime withSlack(ClockTime limit) {
  return limit + std::min<ClockTime>(limit / 5, std::chrono::seconds(2));
}

ClockTime Roster::takeoverLimit() const {
  return withSlack(options.silenceLimit > ClockTime(0) ? options.silenceLimit
                                                       : silenceOfTheLost);
}

bool Roster::isLost(const Trainer &trainer) const {
  return clock.now() - trainer.lastHeard > takeoverLimit();
}

bool Roster::isSilent(const Trainer &trainer) const {
  return trainer.joined && options.silenceLimit > ClockTime(0) &&
         clock.now() - trainer.lastHeard > withSlack(options.silenceLimit);
}

std::string Roster::deathOf(uint32_t rank) const {
  const ProcessIdentity &process = trainers[rank].process;
  return trainerName(rank) + " has died: " +
         (process.isOfThisHost()
              ? "there is no process " + std::to_string(process.number) +
                    " on this host"
              : "its process in another container of this host has ended");
}

std::string Roster::silenceOf(uint32_t rank) const {
  const std::string state = trainers[rank].process.describeState();
  return trainerName(rank) + " was not heard of for " +
         inSeconds(clock.now() - trainers[rank].lastHeard) +
         (state.empty() ? "" : ": " + state);
}

bool Roster::isAwaitedInVain(const Trainer &trainer) const {
  return !trainer.foreignRefusal.empty() && options.joinLimit > ClockTime(0) &&
         clock.now() -
                 std::max({started, trainer.lastGreeted, trainer.foreignAt}) >
             std::min(options.joinLimit, foreignPatience);
}

std::string Roster::absenceOfAll() const {
  // Prefers a trainer that was refused, because its refusal tells the user more
  // than the absence of another.
  std::optional<uint32_t> said;
  for (uint32_t rank = 0; rank < trainers.size(); ++rank) {
    const Trainer &trainer = trainers[rank];
    if (trainer.joined || !joinIsLate(trainer))
      return {};
    if (!said ||
        (isAwaitedInVain(trainer) && !isAwaitedInVain(trainers[*said])))
      said = rank;
  }
  return said ? absenceOf(*said) : std::string();
}

std::string Roster::abandonment() const {
  const ClockTime limit = options.abandonLimit;
  if (limit <= ClockTime(0))
    return {};
  std::string all;
  for (uint32_t rank = 0; rank < trainers.size(); ++rank) {
    const Trainer &trainer = trainers[rank];
    const ClockTime last = trainer.joined
                               ? trainer.lastHeard
                               : std::max(started, trainer.lastGreeted);
    if (clock.now() - last <= limit)
      return {};
    const std::string what = trainer.isDone() ? trainerName(rank) + " is done"
                             : trainer.hasFailed() ? troubleOf(rank)
                             : trainer.joined
                                 ? silenceOf(rank)
                                 : trainerName(rank) + " has not joined";
    all += (all.empty() ? "" : "; ") + what;
  }
  return "no trainer is left: " + all;
}

std::string Roster::absenceOf(uint32_t rank) const {
  const Trainer &trainer = trainers[rank];
  if (!trainer.joined && isAwaitedInVain(trainer))
    return trainerName(rank) +
           " was refused, and no other start of it has "
           "come since: " +
           trainer.foreignRefusal;
  if (!trainer.joined && joinIsLate(trainer))
    return trainerName(rank) + " did not join for " + inSeconds(sinceStart()) +
           ": is it started?";
  if (!trainer.left && trainer.hasDied)
    return deathOf(rank) +
           (options.restartsContinue ? " (under --on-failure=wait others would "
                                       "wait for its new start)"
                                     : "") +
           ". " + startAllAgain;
  if (!trainer.left && isSilent(trainer))
    return silenceOf(rank) +
           (trainer.process.state() == ProcessIdentity::State::Unknown
                ? ": it has died or its network is cut"
                : "") +
           (options.restartsContinue
                ? " (under --on-failure=wait others would wait for it)"
                : "") +
           ". " + startAllAgain;
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
  if (!trainer.refusal.empty())
    return trainerName(rank) + " was refused: " + trainer.refusal;
  if (!trainer.joined && !trainer.foreignRefusal.empty())
    return "a start of " + trainerName(rank) +
           " was refused: " + trainer.foreignRefusal;
  if (trainer.askerHasDied)
    return "the last start of " + trainerName(rank) +
           " has died before it joined: there is no process " +
           std::to_string(trainer.asking.number) + " on this host";
  if (!trainer.left && trainer.hasDied)
    return deathOf(rank);
  if (!trainer.left && isSilent(trainer))
    return silenceOf(rank);
  return {};
}

std::string Roster::remedyFor(uint32_t rank) const {
  const Trainer &trainer = trainers[rank];
  if (troubleOf(rank).empty())
    return {};
  const std::string who = trainerName(rank);
  const bool isSilentOnly = trainer.joined && !trainer.left &&
                            trainer.refusal.empty() && !trainer.hasDied;
  if (!isSilentOnly)
    return "start " + who + " again";
  switch (trainer.process.state()) {
  case ProcessIdentity::State::Suspended:
    return "continue " + who + " by SIGCONT to process " +
           std::to_string(trainer.process.number);
  case ProcessIdentity::State::Alive:
    return "find out what " + who + " waits for";
  case ProcessIdentity::State::Unknown:
    return "start " + who + " again if it has died";
  }
  return {};
}

ClockTime Roster::watchInterval() const {
  ClockTime interval = std::chrono::milliseconds(250);
  for (const ClockTime limit : {options.silenceLimit, options.joinLimit})
    if (limit > ClockTime(0))
      interval = std::min<ClockTime>(interval, limit / 4);
  return std::max<ClockTime>(interval, std::chrono::milliseconds(1));
}
