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

/// Trainers that have arrived in the current round of a server, and which of
/// the trainers were in earlier rounds. Not thread-safe.
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
  /// Returns the lowest rank that has arrived in the round, or the number of
  /// trainers if none has.
  uint32_t first() const;
  /// Returns true if trainers in the round wait for trainer `rank`.
  bool waitsFor(const RoundPolicy &policy, uint32_t rank) const {
    return isOpened && first() < content.hasCome.size() &&
           policy.isExpected(content, rank);
  }
  /// Returns true if the round is open and responses to its requests may be
  /// sent.
  bool isComplete(const RoundPolicy &policy) const {
    return isOpened && policy.isComplete(content);
  }
  /// Returns true if a complete round must be closed; false if it must be
  /// paused.
  bool isFull(const RoundPolicy &policy) const {
    return policy.isFull(content);
  }
  /// Returns true if a round was completed since the last response to this
  /// trainer, so that other trainers have continued without it.
  bool hasMissed(uint32_t rank) const {
    return respondedAt[rank].completed != counts.completed;
  }
  /// Returns true if a round was closed since the last response to this
  /// trainer. Then its gradients were computed from older values.
  bool isLate(uint32_t rank) const {
    return respondedAt[rank].closed != counts.closed;
  }
  void noteResponse(uint32_t rank) { respondedAt[rank] = counts; }
  /// Adds a trainer to the round. The first trainer opens the round.
  void enter(MessageKind kind, uint32_t rank, ClockTime now);
  /// Adds the gradients of a trainer that gets its response immediately.
  void enterResponded(MessageKind kind, ClockTime now);
  /// Updates which trainers are active, and how many steps each has finished.
  void noteProgress(const StepProgress &progress);
  /// Removes all trainers from the round, but keeps their gradients in it.
  void pause();
  /// Ends the round.
  void close();
  /// Returns true if the round has gradients whose senders have got their
  /// responses.
  bool hasResponded() const { return isOpened && content.answered > 0; }
  /// Closes the part of the round that consists of gradients whose senders have
  /// got their responses. Waiting requests are moved to the next round. No
  /// trainer counts as late because of this.
  void closeResponded();

private:
  void open(MessageKind kind, ClockTime now);

  bool isOpened = false;
  RoundContent content;
  /// Number of rounds that were complete, and number of rounds that were
  /// closed.
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
  /// Calls `take` for requests that were not taken yet, in rank order. If the
  /// round is not complete, stops at the first rank that has not arrived. Also
  /// stops at the first error.
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

/// The open rounds of a server, and the trainers for which others wait. Not
/// thread-safe.
class OpenRounds {
public:
  explicit OpenRounds(uint32_t trainers)
      : members{RoundMembers(trainers), RoundMembers(trainers)} {}

  /// Sets the policy of the rounds, which must outlive this object. Without a
  /// policy, no trainer waits.
  void setPolicy(const RoundPolicy &of) { policy = &of; }
  RoundMembers &operator[](RoundIndex index) { return members[index]; }
  /// Returns the round in which other trainers wait for trainer `trainer`, or
  /// null.
  const RoundMembers *thatWaitsFor(uint32_t trainer) const;
  /// Records the slowest trainers, if others are delayed because of them;
  /// otherwise `trainers` is empty.
  void noteSlowest(std::vector<uint32_t> trainers, ClockTime now);
  /// Returns a description of waits that have lasted for at least `atLeast`,
  /// such as "waiting for the exchange of trainer 1 (3 s)". Adds `troubles` in
  /// the brackets. Returns an empty text if there is no such wait.
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
