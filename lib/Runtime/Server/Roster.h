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

/// Decision about a process that requests admission as a trainer.
struct JoinVerdict {
  enum class What { LetIn, NotYet, Refused };
  What what = What::LetIn;
  /// Reason why the process is not admitted.
  std::string message = {};
  /// True if the process was refused because another process has the rank and
  /// may be alive.
  bool isTaken = false;
};

/// The trainers of one job, as a server knows them: which incarnation of each
/// has joined, when it was heard last, and how it has left. Ranks must be
/// smaller than the number of trainers. Not thread-safe.
class Roster {
public:
  /// The arguments must outlive the roster.
  Roster(const ServerCoreOptions &options, const Clock &clock);

  //===--------------------------------------------------------------------===//
  // Events of trainers
  //===--------------------------------------------------------------------===//

  /// Decides whether to admit a process that has sent a Greet or a Join. If
  /// another process has the rank, it is replaced only if it is known to be
  /// lost.
  JoinVerdict judge(const Envelope &head, const StartSign &start);
  /// Admits an incarnation of a trainer. Returns true if this incarnation had
  /// not joined before.
  bool join(const Envelope &head, const StartSign &start);
  /// Records that a process with rank `rank`, which intends to join, has sent a
  /// Greet.
  void greeted(uint32_t rank);
  /// Records that a process of trainer `rank`, which has not joined, was
  /// refused. `why`: the reason.
  void refused(uint32_t rank, const std::string &why);
  /// Records that a process of this rank, which may belong to another job, was
  /// refused, and the reason.
  void refusedForeign(uint32_t rank, const std::string &why);
  /// Records that `process` requests to join with rank `rank`.
  void asks(uint32_t rank, const ProcessIdentity &process);
  /// Returns the incarnation of the trainer's next process.
  uint64_t nextIncarnation(uint32_t rank) const;
  /// Returns the largest incarnation that has joined; 0 if there is none.
  uint64_t newestIncarnation() const;
  void heard(uint32_t rank);
  /// Records that `process` is the process of trainer `rank`.
  void sentBy(uint32_t rank, const ProcessIdentity &process);
  /// Records that a trainer has left. `failure`: the reason, or empty if it has
  /// left after its work was done. No effect if it has left before.
  void leave(uint32_t rank, const std::string &failure);
  /// Records that trainer `rank`, which has not joined, was told how the job
  /// has ended.
  void noteNotified(uint32_t rank);
  /// Starts the time limit for joins.
  void start() { started = clock.now(); }
  /// Checks which processes have died. The functions below use the result of
  /// this check. Only `judge` checks again.
  void lookForDead();
  /// Extends time limits by `late`, a time for which this process was
  /// suspended. Nothing is known about the trainers during that time.
  void forgive(ClockTime late);

  //===--------------------------------------------------------------------===//
  // Conclusions
  //===--------------------------------------------------------------------===//

  /// Returns the reason to refuse a request, other than a Greet or a Join, that
  /// was not sent by the incarnation that has joined. Returns an empty text for
  /// other requests.
  std::string fenceFault(const Envelope &head) const;
  /// Returns the head of the response that refuses such a request. If a later
  /// incarnation has joined, the head has the incarnation
  /// `incarnationOfReplaced`; the replaced process then ends without an error
  /// message.
  Envelope fenceHead(Envelope head) const;
  bool hasJoined(uint32_t rank) const { return trainers[rank].joined; }
  bool hasLeft(uint32_t rank) const { return trainers[rank].left; }
  bool isDone(uint32_t rank) const { return trainers[rank].isDone(); }
  bool hasFailed(uint32_t rank) const { return trainers[rank].hasFailed(); }
  /// Returns true if the trainer's process runs on this host and has died.
  bool hasDied(uint32_t rank) const {
    return !trainers[rank].left && trainers[rank].hasDied;
  }
  /// Returns true if the sender of `head` is not the process that has joined.
  bool isAnother(const Envelope &head, const StartSign &start) const {
    const Trainer &trainer = trainers[head.trainer];
    return trainer.joined && (trainer.startId != start.id ||
                              head.incarnation > trainer.incarnation);
  }
  /// Returns a trainer that has left after its work was done; none if there is
  /// none.
  std::optional<uint32_t> firstThatIsDone() const;
  bool allAreDone() const;
  /// Returns true if each trainer has left with a failure, or was refused
  /// before it has joined.
  bool allFailed() const;
  /// Returns true if no trainer will send a further request: each has left, was
  /// told about the end of the job, is silent, or has not joined in time.
  /// `mayJoin`: trainers that have not joined yet may still do so.
  bool allAreGone(bool mayJoin) const;
  /// Returns the reason why trainer `rank` is lost; empty if it is not lost.
  std::string absenceOf(uint32_t rank) const;
  /// If no trainer has joined in time, returns the reason for one of them.
  /// Otherwise returns an empty text.
  std::string absenceOfAll() const;
  /// If no trainer was heard for `abandonLimit`, returns a description of what
  /// has happened to each. Otherwise returns an empty text.
  std::string abandonment() const;
  std::vector<uint32_t> notJoined() const;
  ClockTime sinceStart() const { return clock.now() - started; }
  /// Returns the known reason for the delay of trainer `rank`; empty if none is
  /// known.
  std::string troubleOf(uint32_t rank) const;
  /// Returns what a user can do about that, such as "start trainer 1 again";
  /// empty without trouble.
  std::string remedyFor(uint32_t rank) const;
  /// Returns the interval for checking limits.
  ClockTime watchInterval() const;

private:
  /// Process that requests a rank while another process may have that rank.
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
    /// Time of the trainer's last Greet before its join.
    ClockTime lastGreeted{0};
    /// Reason why the last process of this rank was refused before it has
    /// joined; empty if it was not refused.
    std::string refusal;
    /// Reason why a process of this rank, which may belong to another job, was
    /// refused last; and the time of the refusal.
    std::string foreignRefusal;
    ClockTime foreignAt{0};
    /// Last process that requested to join; set if this host can detect its
    /// end.
    ProcessIdentity asking;
    /// True if the process `asking` was dead at the last check.
    bool askerHasDied = false;
    std::vector<Challenger> challengers;
    /// Process of the trainer; set if this host can detect its end.
    ProcessIdentity process;
    /// True if `process` was dead at the last check.
    bool hasDied = false;
    /// Time of the last notification about the end of the job; negative if
    /// none.
    ClockTime notifiedAt{-1};
    /// True if the trainer has left, with or without a failure.
    bool left = false;
    /// Failure with which the trainer has left; empty if there was none.
    std::string failure;

    bool isDone() const { return left && failure.empty(); }
    bool hasFailed() const { return left && !failure.empty(); }
  };
  bool isSilent(const Trainer &trainer) const;
  /// Requests the state of the process from the operating system, which takes a
  /// few microseconds.
  static bool isDead(const Trainer &trainer) {
    return trainer.process.hasEnded();
  }
  JoinVerdict judgeAgainst(Trainer &earlier, const Envelope &head,
                           const StartSign &start);
  /// Returns a text with the times when the trainer joined and was last heard.
  std::string describe(const Trainer &trainer) const;
  /// Returns the silence after which a restarted process may replace a trainer.
  ClockTime takeoverLimit() const;
  bool isLost(const Trainer &trainer) const;
  /// Returns true if the process of a joined trainer may be alive.
  bool mayLive(const Trainer &trainer) const {
    return !trainer.left && !isDead(trainer) && !isLost(trainer);
  }
  std::string deathOf(uint32_t rank) const;
  /// Returns true if a process with a wrong program was refused and the right
  /// one has not arrived for `foreignPatience`.
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
