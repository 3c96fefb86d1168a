//===- Roster.h - Trainers of a job and their incarnations ------*- C++ -*-===//
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

/// Returns "trainer 1".
std::string trainerName(uint32_t rank);
/// Returns "trainer 1", "trainers 1, 2 and 5".
std::string trainerNames(const std::vector<uint32_t> &ranks);

/// Decision about a process that asks to be admitted as a trainer.
struct JoinVerdict {
  enum class What { LetIn, NotYet, Refused };
  What what = What::LetIn;
  /// Reason for not admitting it.
  std::string sentence = {};
  /// True if it was refused because another process has the rank and is not
  /// known to be gone.
  bool isTaken = false;
};

/// Trainers of one job, as a server sees them: which incarnation of each has
/// joined, when it was heard last, and whether and how it left. Ranks must be
/// smaller than the number of trainers. Not thread-safe.
class Roster {
public:
  /// Both must outlive the roster.
  Roster(const ServerCoreOptions &options, const Clock &clock);

  //===--------------------------------------------------------------------===//
  // Events of trainers
  //===--------------------------------------------------------------------===//

  /// Decides about a process that asks to be admitted by a Greet or a Join. It
  /// cannot replace another process until that one is known to be lost.
  JoinVerdict judge(const Envelope &head, const StartSign &start);
  /// Admits an incarnation of a trainer. Returns true if it is a new one.
  bool join(const Envelope &head, const StartSign &start);
  /// Records a greeting of a process that intends to join.
  void greeted(uint32_t rank);
  /// Records that a trainer that has not joined was refused, and the reason.
  void refused(uint32_t rank, const std::string &why);
  /// Records the same for a process of that rank that may belong to another
  /// job.
  void refusedForeign(uint32_t rank, const std::string &why);
  /// Records which process of that rank intends to join.
  void asks(uint32_t rank, const ProcessIdentity &process);
  /// Returns the incarnation of the trainer's next process.
  uint64_t nextIncarnation(uint32_t rank) const;
  /// Returns the largest incarnation that has joined; 0 if there is none.
  uint64_t newestIncarnation() const;
  void heard(uint32_t rank);
  /// Records the process of that trainer.
  void sentBy(uint32_t rank, const ProcessIdentity &process);
  /// Records that a trainer has left: in order (empty text) or because of a
  /// failure. No effect if it has left before.
  void leave(uint32_t rank, const std::string &failure);
  /// Records that a trainer that has not joined was told how the job has ended.
  void noteNotified(uint32_t rank);
  /// Starts the time limit for joins.
  void start() { started = clock.now(); }
  /// Checks whose processes have died. The functions below use the result of
  /// the last check, except `judge`, which checks itself.
  void lookForDead();
  /// Discounts time in which this process was suspended (stopped, or machine
  /// asleep), because it says nothing about others.
  void forgive(ClockTime late);

  //===--------------------------------------------------------------------===//
  // Conclusions
  //===--------------------------------------------------------------------===//

  /// Returns the reason to refuse any other request that is not from the joined
  /// incarnation.
  std::string fenceFault(const Envelope &head) const;
  /// Returns the head of that refusal. If a later incarnation has joined, the
  /// head says so (`incarnationOfReplaced`), and the earlier one ends without a
  /// message.
  Envelope fenceHead(Envelope head) const;
  bool hasJoined(uint32_t rank) const { return trainers[rank].joined; }
  bool hasLeft(uint32_t rank) const { return trainers[rank].left; }
  bool isDone(uint32_t rank) const { return trainers[rank].isDone(); }
  bool hasFailed(uint32_t rank) const { return trainers[rank].hasFailed(); }
  /// Returns true if its process on this host has died.
  bool hasDied(uint32_t rank) const {
    return !trainers[rank].left && trainers[rank].hasDied;
  }
  /// Returns true if the asking process differs from the one that has joined.
  bool isAnother(const Envelope &head, const StartSign &start) const {
    const Trainer &trainer = trainers[head.trainer];
    return trainer.joined && (trainer.startId != start.id ||
                              head.incarnation > trainer.incarnation);
  }
  /// Returns a trainer that has left in order.
  std::optional<uint32_t> firstThatIsDone() const;
  bool allAreDone() const;
  /// Returns true if each trainer has left because of a failure, or was refused
  /// before its join.
  bool allFailed() const;
  /// Returns true if no trainer will ask any more: each has left, was told how
  /// the job has ended, is silent, or had time to join. `mayJoin` is true if
  /// trainers that have not joined may still come.
  bool allAreGone(bool mayJoin) const;
  /// Returns the reason why that trainer is lost; empty if it is not.
  std::string absenceOf(uint32_t rank) const;
  /// If no trainer has joined in time, returns the reason for one of them; else
  /// returns an empty text.
  std::string absenceOfAll() const;
  /// If no trainer was heard of for `abandonLimit`, returns what happened to
  /// each; else returns an empty text.
  std::string abandonment() const;
  std::vector<uint32_t> notJoined() const;
  ClockTime sinceStart() const { return clock.now() - started; }
  /// Returns what delays that trainer, as far as is known; may be empty.
  std::string troubleOf(uint32_t rank) const;
  /// Returns what a user can do about that, such as "start trainer 1 again";
  /// empty without trouble.
  std::string remedyFor(uint32_t rank) const;
  /// Returns the interval for checking limits.
  ClockTime watchInterval() const;

private:
  /// Process that asks for a rank which another process may have.
  struct Challenger {
    uint64_t id = 0;
    ClockTime since{0};
  };
  struct Trainer {
    bool joined = false;
    uint64_t incarnation = 0;
    /// From `StartSign`.
    uint64_t startId = 0;
    ClockTime joinedAt{0};
    ClockTime lastHeard{0};
    /// Time of its last greeting before its join.
    ClockTime lastGreeted{0};
    /// Reason why its last process was refused before a join; empty if it was
    /// not.
    std::string refusal;
    /// Reason why the last process that may belong to another job was refused,
    /// and the time of the refusal.
    std::string foreignRefusal;
    ClockTime foreignAt{0};
    /// Last process that asked to join, if its end can be detected here.
    ProcessIdentity asking;
    /// True if that process was dead at the last check.
    bool askerHasDied = false;
    std::vector<Challenger> challengers;
    /// Set if the end of the process can be detected here.
    ProcessIdentity process;
    /// True if that process was dead at the last check.
    bool hasDied = false;
    /// Time when it was last told about the end; negative: never.
    ClockTime notifiedAt{-1};
    /// It has left, in order or with a failure.
    bool left = false;
    /// Failure because of which it left.
    std::string failure;

    bool isDone() const { return left && failure.empty(); }
    bool hasFailed() const { return left && !failure.empty(); }
  };
  bool isSilent(const Trainer &trainer) const;
  /// Asks the operating system, which takes a few microseconds.
  static bool isDead(const Trainer &trainer) {
    return trainer.process.hasEnded();
  }
  JoinVerdict judgeAgainst(Trainer &earlier, const Envelope &head,
                           const StartSign &start);
  /// Returns when it joined and when it was last heard.
  std::string describe(const Trainer &trainer) const;
  /// Returns the silence after which a restarted process may replace a trainer.
  ClockTime takeoverLimit() const;
  bool isLost(const Trainer &trainer) const;
  /// Returns true if a trainer that has joined may be alive.
  bool mayLive(const Trainer &trainer) const {
    return !trainer.left && !isDead(trainer) && !isLost(trainer);
  }
  std::string deathOf(uint32_t rank) const;
  /// Returns true if no other process has come for long since a wrong one was
  /// refused.
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
