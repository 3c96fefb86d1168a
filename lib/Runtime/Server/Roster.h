//===- Roster.h - Which trainers of a job are there -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_ROSTER_H
#define LIB_RUNTIME_SERVER_ROSTER_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Protocol/StartSign.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Envelope.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// "trainer 1".
std::string trainerName(uint32_t rank);
/// "trainer 1", "trainers 1, 2 and 5".
std::string trainerNames(const std::vector<uint32_t> &ranks);

/// What becomes of a start of a trainer that asks to be let in.
struct JoinVerdict {
  enum class What { LetIn, NotYet, Refused };
  What what = What::LetIn;
  /// Why it is not let in.
  std::string sentence = {};
  /// Refused because another start has the place, and is not known to be gone.
  bool isTaken = false;
};

/// The trainers of one job as a server sees them: which start of each has
/// joined, when it was heard of last, whether and how it left. Ranks are below
/// the number of trainers. Not thread-safe.
class Roster {
public:
  /// Both outlive it.
  Roster(const ServerCoreOptions &options, const Clock &clock);

  //===--------------------------------------------------------------------===//
  // What trainers do
  //===--------------------------------------------------------------------===//

  /// Judges a start that asks to be let in, by a Greet or a Join. Another one
  /// that is there is not replaced before it is known to be lost.
  JoinVerdict judge(const Envelope &head, const StartSign &start);
  /// Lets a start of a trainer in; whether it is a new one.
  bool join(const Envelope &head, const StartSign &start);
  /// A start that means to join is there.
  void greeted(uint32_t rank);
  /// A trainer that has not joined was told why it cannot.
  void refused(uint32_t rank, const std::string &why);
  /// So was somebody of that rank who may have been meant for another job.
  void refusedForeign(uint32_t rank, const std::string &why);
  /// A process of that rank means to join.
  void asks(uint32_t rank, const ProcessIdentity &process);
  /// The incarnation of the trainer's next start.
  uint64_t nextIncarnation(uint32_t rank) const;
  /// The largest incarnation with which a trainer has joined; 0: none has.
  uint64_t newestIncarnation() const;
  void heard(uint32_t rank);
  /// Says of which process that trainer is.
  void sentBy(uint32_t rank, const ProcessIdentity &process);
  /// In order, with an empty sentence, or because of a failure. No effect where
  /// it has left.
  void leave(uint32_t rank, const std::string &failure);
  /// Has been told how the job has ended, without having joined.
  void told(uint32_t rank);
  /// The time to join begins now.
  void start() { started = clock.now(); }
  /// Looks whose processes have died; what follows from that goes by the last
  /// look, but for `judge`, which looks itself.
  void lookForDead();
  /// Time in which this process itself did not run (it was stopped, its machine
  /// slept) says nothing of others.
  void forgive(ClockTime late);

  //===--------------------------------------------------------------------===//
  // What follows from that
  //===--------------------------------------------------------------------===//

  /// Why any other request is refused that is not of the start that joined.
  std::string fenceFault(const Envelope &head) const;
  /// Returns the head of a refusal of such a request. If a later start has
  /// joined, it says so (`incarnationOfReplaced`), and the earlier one ends
  /// without a word.
  Envelope fenceHead(Envelope head) const;
  bool hasJoined(uint32_t rank) const { return trainers[rank].joined; }
  bool hasLeft(uint32_t rank) const { return trainers[rank].left; }
  bool isDone(uint32_t rank) const { return trainers[rank].isDone(); }
  bool hasFailed(uint32_t rank) const { return trainers[rank].hasFailed(); }
  /// Whether its process has died, as far as this host knows.
  bool hasDied(uint32_t rank) const {
    return !trainers[rank].left && trainers[rank].hasDied;
  }
  /// Whether a start that asks is another one than that which has joined.
  bool isAnother(const Envelope &head, const StartSign &start) const {
    const Trainer &trainer = trainers[head.trainer];
    return trainer.joined && (trainer.startId != start.id ||
                              head.incarnation > trainer.incarnation);
  }
  /// A trainer that left in order.
  std::optional<uint32_t> firstThatIsDone() const;
  bool allAreDone() const;
  /// Whether each has left because it failed, or was refused before its join.
  bool allFailed() const;
  /// Whether nobody is there who would still ask: all have left, were told how
  /// the job has ended, are silent, or had their time to join. `mayJoin`:
  /// whether those that have not joined may yet come.
  bool allAreGone(bool mayJoin) const;
  /// Why that trainer counts as lost; empty if it does not.
  std::string absenceOf(uint32_t rank) const;
  /// Where no trainer has joined in the time that they have: why one has not;
  /// else empty.
  std::string absenceOfAll() const;
  /// Where no trainer at all was heard of for `abandonLimit`: what became of
  /// each; else empty.
  std::string abandonment() const;
  std::vector<uint32_t> notJoined() const;
  ClockTime sinceStart() const { return clock.now() - started; }
  /// What keeps that trainer from going on, as far as is known; may be empty.
  std::string troubleOf(uint32_t rank) const;
  /// How often limits should be looked at.
  ClockTime watchInterval() const;

private:
  /// A start that asks for the place of one that may be there.
  struct Challenger {
    uint64_t id = 0;
    ClockTime since{0};
  };
  struct Trainer {
    bool joined = false;
    uint64_t incarnation = 0;
    /// Of `StartSign`.
    uint64_t startId = 0;
    ClockTime joinedAt{0};
    ClockTime lastHeard{0};
    /// Before it has joined.
    ClockTime lastGreeted{0};
    /// Why its last start was refused before it has joined; empty: it was not.
    std::string refusal;
    /// The same, of the last one that may have been another job's, and when.
    std::string foreignRefusal;
    ClockTime foreignAt{0};
    /// Who asked to join last, where it is of this host.
    ProcessIdentity asking;
    /// Whether it had died when it was looked for last.
    bool askerHasDied = false;
    std::vector<Challenger> challengers;
    /// Where it is of this host.
    ProcessIdentity process;
    /// Whether that process had died when it was looked for last.
    bool hasDied = false;
    /// When it was told last; negative: it was not.
    ClockTime toldAt{-1};
    /// In order, or with a failure.
    bool left = false;
    /// It left because of that.
    std::string failure;

    bool isDone() const { return left && failure.empty(); }
    bool hasFailed() const { return left && !failure.empty(); }
  };
  bool isSilent(const Trainer &trainer) const;
  /// Asks the system: takes some microseconds.
  static bool isDead(const Trainer &trainer) {
    return trainer.process.hasEnded();
  }
  JoinVerdict judgeAgainst(Trainer &earlier, const Envelope &head,
                           const StartSign &start);
  /// When it joined and was heard of last.
  std::string describe(const Trainer &trainer) const;
  /// The silence after which a new start takes a trainer's place.
  ClockTime takeoverLimit() const;
  bool isLost(const Trainer &trainer) const;
  /// Whether a trainer that has joined may be there.
  bool mayLive(const Trainer &trainer) const {
    return !trainer.left && !isDead(trainer) && !isLost(trainer);
  }
  std::string deathOf(uint32_t rank) const;
  /// Whether nobody else has come for long since a wrong one was refused.
  bool isAwaitedInVain(const Trainer &trainer) const;
  bool joinIsLate(const Trainer &trainer) const {
    return isAwaitedInVain(trainer) ||
           (options.joinLimit > ClockTime(0) &&
            clock.now() - std::max(started, trainer.lastGreeted) >
                options.joinLimit);
  }
  std::string silenceOf(uint32_t rank) const;

  const ServerCoreOptions &options;
  const Clock &clock;
  ClockTime started;
  std::vector<Trainer> trainers;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_ROSTER_H
