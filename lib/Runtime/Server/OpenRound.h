//===- OpenRound.h - Rounds in progress -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_OPENROUND_H
#define LIB_RUNTIME_SERVER_OPENROUND_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Server/RoundPolicy.h"
#include "pdlrt/Transport/Frame.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Members of a server's current round, and what earlier rounds were to them.
/// Not thread-safe.
class RoundMembers {
public:
  explicit RoundMembers(uint32_t trainers)
      : content{MessageKind::Exchange, std::vector<bool>(trainers, false),
                std::vector<bool>(trainers, true),
                std::vector<int64_t>(trainers)},
        respondedAt(trainers) {}

  uint32_t trainers() const { return uint32_t(content.hasCome.size()); }
  bool isOpen() const { return isOpened; }
  MessageKind kind() const { return content.kind; }
  ClockTime since() const { return begun; }
  /// Returns the lowest rank in the round, or the number of trainers if it has
  /// none.
  uint32_t first() const;
  /// Returns true if members of the round wait for that trainer.
  bool waitsFor(const RoundPolicy &policy, uint32_t rank) const {
    return isOpened && first() < content.hasCome.size() &&
           policy.isExpected(content, rank);
  }
  /// Returns true if there is a round whose requests may be answered.
  bool isComplete(const RoundPolicy &policy) const {
    return isOpened && policy.isComplete(content);
  }
  /// Returns true if a complete round is closed; otherwise it pauses.
  bool isFull(const RoundPolicy &policy) const {
    return policy.isFull(content);
  }
  /// Returns true if a round was complete since that trainer's last response,
  /// so that others have continued without it.
  bool hasMissed(uint32_t rank) const {
    return respondedAt[rank].completed != counts.completed;
  }
  /// Returns true if a round was closed since then, so that the trainer has
  /// read older values.
  bool isLate(uint32_t rank) const {
    return respondedAt[rank].closed != counts.closed;
  }
  void noteResponse(uint32_t rank) { respondedAt[rank] = counts; }
  /// Adds a trainer to the round; the first one opens it.
  void enter(MessageKind kind, uint32_t rank, ClockTime now);
  /// Adds gradients whose sender is answered at once.
  void enterResponded(MessageKind kind, ClockTime now);
  /// Updates which trainers are active, and how many steps each has finished.
  void noteProgress(const StepProgress &progress);
  /// Releases the members of the round but keeps their gradients in it.
  void pause();
  /// Ends the round.
  void close();
  /// Returns true if the round has gradients whose senders were answered.
  bool hasResponded() const { return isOpened && content.answered > 0; }
  /// Ends the round of these gradients. Requests that wait are then in the next
  /// one, and no trainer is late because of it.
  void closeResponded();

private:
  void open(MessageKind kind, ClockTime now);

  bool isOpened = false;
  RoundContent content;
  /// Number of times that a round was complete, and was closed.
  struct Counts {
    uint64_t completed = 0;
    uint64_t closed = 0;
  };
  Counts counts;
  /// Counts at the time of each trainer's last response.
  std::vector<Counts> respondedAt;
  ClockTime begun{0};
};

/// Requests of the members of a round, by rank. Not thread-safe.
class RoundRequests {
public:
  explicit RoundRequests(uint32_t trainers) : frames(trainers) {}

  void keep(Frame frame);
  /// Calls `take` for requests that were not taken yet, in rank order: up to
  /// the first missing rank, or for all if the round is complete. Stops at the
  /// first error.
  template <typename Take> Status takeInOrder(bool complete, Take take) {
    for (; next < frames.size(); ++next)
      if (std::optional<Frame> &frame = frames[next])
        PDLRT_RETURN_IF_ERROR(take(*frame));
      else if (!complete)
        return {};
    return {};
  }
  /// Returns the heads of the requests by rank, and clears the round.
  std::vector<Envelope> release();

private:
  std::vector<std::optional<Frame>> frames;
  uint32_t next = 0;
};

/// Rounds that a server may have open at the same time.
enum RoundIndex : size_t {
  StepRound,
  /// Sums, if rounds of steps do not wait for all trainers.
  SumRound,
};
inline constexpr size_t roundCount = 2;

/// Returns the round of a kind of request.
inline RoundIndex roundOf(MessageKind kind, const RoundPolicy &policy) {
  return kind == MessageKind::Reduce &&
                 !policy.waitsForAll(MessageKind::Exchange)
             ? SumRound
             : StepRound;
}

/// Open rounds of a server, and the trainers that others wait for. Not
/// thread-safe.
class OpenRounds {
public:
  explicit OpenRounds(uint32_t trainers)
      : members{RoundMembers(trainers), RoundMembers(trainers)} {}

  /// Sets the policy of the rounds, which must outlive them. Before that,
  /// nothing waits.
  void setPolicy(const RoundPolicy &of) { policy = &of; }
  RoundMembers &operator[](RoundIndex index) { return members[index]; }
  /// Returns the round that waits for that trainer, or null.
  const RoundMembers *thatWaitsFor(uint32_t trainer) const;
  /// Records the slowest trainers, for which others are held back; empty if
  /// none is held back.
  void noteSlowest(std::vector<uint32_t> trainers, ClockTime now);
  /// Returns what has been waiting since at least `atLeast`, such as "waiting
  /// for the exchange of trainer 1 (3 s)", with `troubles` in the brackets;
  /// empty if nothing waits.
  std::string describeWait(ClockTime atLeast, ClockTime now,
                           const std::string &troubles) const;

private:
  const RoundPolicy *policy = nullptr;
  std::array<RoundMembers, roundCount> members;
  std::vector<uint32_t> slowest;
  ClockTime heldSince{0};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_OPENROUND_H
