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
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Envelope.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// "3 s".
std::string inSeconds(ClockTime time);
/// "trainer 1".
std::string trainerName(uint32_t rank);
/// "trainer 1", "trainers 1, 2 and 5".
std::string trainerNames(const std::vector<uint32_t> &ranks);

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

  /// Lets a start of a trainer in; whether it is a new one.
  bool join(const Envelope &head);
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
  /// Time in which this process itself did not run (it was stopped, its machine
  /// slept) says nothing of others.
  void forgive(ClockTime late);

  //===--------------------------------------------------------------------===//
  // What follows from that
  //===--------------------------------------------------------------------===//

  /// Why a join is refused; empty if it is not.
  std::string joinFault(const Envelope &head) const;
  /// Why any other request is refused that is not of the start that joined.
  std::string fenceFault(const Envelope &head) const;
  bool hasJoined(uint32_t rank) const { return trainers[rank].joined; }
  bool hasLeft(uint32_t rank) const { return trainers[rank].left; }
  bool hasFailed(uint32_t rank) const { return trainers[rank].hasFailed(); }
  /// A trainer that left in order.
  std::optional<uint32_t> firstThatIsDone() const;
  bool allAreDone() const;
  bool allFailed() const;
  /// Whether nobody is there who would still ask: all have left, were told how
  /// the job has ended, are silent, or had their time to join. `mayJoin`:
  /// whether those that have not joined may yet come.
  bool allAreGone(bool mayJoin) const;
  /// Why that trainer counts as lost; empty if it does not.
  std::string absenceOf(uint32_t rank) const;
  std::vector<uint32_t> notJoined() const;
  ClockTime sinceStart() const { return clock.now() - started; }
  /// What keeps that trainer from going on, as far as is known; may be empty.
  std::string troubleOf(uint32_t rank) const;
  /// How often limits should be looked at.
  ClockTime watchInterval() const;

private:
  struct Trainer {
    bool joined = false;
    uint64_t incarnation = 0;
    ClockTime lastHeard{0};
    /// Where it is of this host and was seen there.
    ProcessIdentity process;
    /// When it was told first; negative: it was not.
    ClockTime toldAt{-1};
    /// In order, or with a failure.
    bool left = false;
    /// It left because of that.
    std::string failure;

    bool isDone() const { return left && failure.empty(); }
    bool hasFailed() const { return left && !failure.empty(); }
  };
  bool isSilent(const Trainer &trainer) const;
  bool hasDied(const Trainer &trainer) const {
    return trainer.process.host != 0 && !trainer.process.isSeen();
  }
  std::string deathOf(uint32_t rank) const;
  bool joinIsLate() const {
    return options.joinLimit > ClockTime(0) && sinceStart() > options.joinLimit;
  }
  std::string silenceOf(uint32_t rank) const;

  const ServerCoreOptions &options;
  const Clock &clock;
  ClockTime started;
  std::vector<Trainer> trainers;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_ROSTER_H
