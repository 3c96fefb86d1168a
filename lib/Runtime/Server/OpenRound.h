//===- OpenRound.h - The round that is under way ----------------*- C++ -*-===//
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

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace pdlrt {

/// What has come of the current round of a server. Not thread-safe: who is in
/// it belongs to one lock, what they sent to another, as is said below.
class OpenRound {
public:
  explicit OpenRound(uint32_t trainers)
      : content{MessageKind::Exchange, std::vector<bool>(trainers, false),
                std::vector<bool>(trainers, true),
                std::vector<int64_t>(trainers)},
        answeredAt(trainers), frames(trainers) {}

  //===--------------------------------------------------------------------===//
  // Who is in it: the protocol's lock
  //===--------------------------------------------------------------------===//

  bool isOpen() const { return isOpened; }
  MessageKind kind() const { return content.kind; }
  ClockTime since() const { return begun; }
  bool isIn(uint32_t rank) const { return content.hasCome[rank]; }
  /// The least rank that is in it; the number of trainers where nobody is.
  uint32_t first() const;
  /// Whether those who have come wait for that trainer.
  bool waitsFor(const RoundPolicy &policy, uint32_t rank) const {
    return isOpened && first() < content.hasCome.size() &&
           policy.isDue(content, rank);
  }
  /// Whether there is a round whose requests may be answered.
  bool isComplete(const RoundPolicy &policy) const {
    return isOpened && policy.isComplete(content);
  }
  /// Whether it is closed with that; else it pauses.
  bool isFull(const RoundPolicy &policy) const {
    return policy.isFull(content);
  }
  /// Whether a round was complete since that trainer was answered last: others
  /// have gone on without it.
  bool hasMissed(uint32_t rank) const {
    return answeredAt[rank].completed != counts.completed;
  }
  /// Whether one was closed since then, so that it has seen older values.
  bool isLate(uint32_t rank) const {
    return answeredAt[rank].closed != counts.closed;
  }
  void noteAnswer(uint32_t rank) { answeredAt[rank] = counts; }
  /// Takes a trainer in; the first one opens the round.
  void enter(MessageKind kind, uint32_t rank, ClockTime now);
  /// Takes in gradients whose sender is answered at once.
  void enterAnswered(MessageKind kind, ClockTime now);
  /// Who takes part in steps, and how many each has ended.
  void noteProgress(const StepProgress &progress);
  /// Goes on without those that have come, whose gradients stay in it.
  void pause();
  /// Ends it.
  void close();

  //===--------------------------------------------------------------------===//
  // What they sent: the application's lock
  //===--------------------------------------------------------------------===//

  void keep(Frame frame);
  /// Calls `take` for what has not been taken yet, in rank order: up to the
  /// first rank whose request is missing, or for all where the round is
  /// complete. Ends with its first error.
  template <typename Take> Status takeInOrder(bool complete, Take take) {
    for (; next < frames.size(); ++next)
      if (std::optional<Frame> &frame = frames[next])
        PDLRT_RETURN_IF_ERROR(take(*frame));
      else if (!complete)
        return {};
    return {};
  }
  /// The heads of the requests, by rank; nothing is left behind.
  std::vector<Envelope> releaseFrames();

private:
  void open(MessageKind kind, ClockTime now);

  bool isOpened = false;
  RoundContent content;
  /// How often a round was complete, and how often one was closed.
  struct Counts {
    uint64_t completed = 0;
    uint64_t closed = 0;
  };
  Counts counts;
  /// By trainer: when it was answered last.
  std::vector<Counts> answeredAt;
  ClockTime begun{0};
  std::vector<std::optional<Frame>> frames;
  uint32_t next = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_OPENROUND_H
