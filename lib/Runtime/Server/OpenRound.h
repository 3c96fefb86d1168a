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
      : content{MessageKind::Exchange, std::vector<bool>(trainers, false)},
        frames(trainers) {}

  //===--------------------------------------------------------------------===//
  // Who is in it: the protocol's lock
  //===--------------------------------------------------------------------===//

  bool isOpen() const { return open; }
  MessageKind kind() const { return content.kind; }
  ClockTime since() const { return begun; }
  /// The least rank that is in it.
  uint32_t first() const;
  /// Whether an open round waits for that trainer.
  bool waitsFor(const RoundPolicy &policy, uint32_t rank) const {
    return open && policy.isDue(content, rank);
  }
  bool isComplete(const RoundPolicy &policy) const;
  /// Takes a trainer in; the first one opens the round.
  void enter(MessageKind kind, uint32_t rank, ClockTime now);
  /// Ends it; what it was.
  RoundContent close();

  //===--------------------------------------------------------------------===//
  // What they sent: the application's lock
  //===--------------------------------------------------------------------===//

  void keep(Frame frame);
  /// Calls `contribute` for what has not been taken yet, in rank order: up to
  /// the first rank whose request is missing, or for all where the round is
  /// complete.
  template <typename Contribute>
  void takeInOrder(bool complete, Contribute contribute) {
    for (; next < frames.size(); ++next)
      if (std::optional<Frame> &frame = frames[next])
        contribute(*frame);
      else if (!complete)
        return;
  }
  /// By rank; nothing is left behind.
  std::vector<std::optional<Frame>> releaseFrames();

private:
  bool open = false;
  RoundContent content;
  ClockTime begun{0};
  std::vector<std::optional<Frame>> frames;
  uint32_t next = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_OPENROUND_H
