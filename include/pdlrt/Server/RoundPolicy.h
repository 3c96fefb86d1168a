//===- RoundPolicy.h - Rounds and waiting rules of a mode -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_ROUNDPOLICY_H
#define PDLRT_SERVER_ROUNDPOLICY_H

#include "pdlrt/Server/StepProgress.h"
#include "pdlrt/Transport/Envelope.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// Content of a round, by rank of the trainers. It says whether a trainer's
/// request has arrived, and whether the trainer has or may still have steps to
/// finish. It also counts the steps that the trainer has finished since the
/// last round of sums, including the step of its request here.
struct RoundContent {
  MessageKind kind = MessageKind::Exchange;
  std::vector<bool> hasCome;
  std::vector<bool> takesPart;
  std::vector<int64_t> steps;
  /// Number of gradients in the round whose senders were answered already: late
  /// ones, and those of a round that was complete but not full.
  uint32_t answered = 0;
};

/// Treatment of gradients that arrive after their round was closed.
enum class LateGradients {
  /// They count in the round that is open at that time.
  Count,
  /// They do not count.
  Drop,
};

/// Properties of a mode that matter to the protocol: which requests form
/// rounds, when a round is closed, and when requests are answered. Immutable.
/// Thread-safe.
class RoundPolicy {
public:
  virtual ~RoundPolicy();

  /// Returns true if a request of this kind, of a step or of sums, is part of a
  /// round. Other requests are handled one by one, as they arrive.
  virtual bool formsRounds(MessageKind kind, const StepFacts &facts) const = 0;
  /// Returns true if the round waits for that trainer's request.
  virtual bool isExpected(const RoundContent &round, uint32_t rank) const = 0;
  /// Returns true if the round, which contains requests or late gradients,
  /// waits for no further request. Then all its requests are answered.
  virtual bool isComplete(const RoundContent &round) const;
  /// Returns true if a complete round is closed. Otherwise its gradients stay
  /// in it, and more are added.
  virtual bool isFull(const RoundContent &round) const {
    (void)round;
    return true;
  }
  /// Returns true if the round is closed only after all requests have arrived.
  /// Then requests are taken in rank order while others are still missing.
  virtual bool waitsForAll(MessageKind kind) const {
    (void)kind;
    return true;
  }
  /// Returns the treatment of a request that arrives after the end of its
  /// round, if a round does not wait for all. The request is answered at once,
  /// so that no trainer waits for a round that it is not part of.
  virtual LateGradients late() const { return LateGradients::Count; }
  /// Returns true if a step request that forms no round and was taken may be
  /// answered now. If not, the server checks again after other senders have
  /// progressed.
  virtual bool isRespondedTo(const StepProgress &progress,
                             const Envelope &request) const {
    (void)progress, (void)request;
    return true;
  }
};

/// Mode sync: steps and sums are rounds of all trainers.
const RoundPolicy &roundsOfSteps();
/// Modes async and half-async: only sums are rounds of all trainers. A step is
/// answered at once.
const RoundPolicy &roundsOfSums();
/// The same with bounded staleness: the response to a step is delayed while its
/// sender is more than `bound` steps ahead of the slowest sender. See Ho et
/// al., "More Effective Distributed ML via a Stale Synchronous Parallel
/// Parameter Server", 2013.
std::unique_ptr<RoundPolicy> createBoundedStaleness(int64_t bound);
/// Mode quorum (backup workers: Chen et al., "Revisiting Distributed
/// Synchronous SGD", 2016). A round of a step is closed when the gradients of
/// `quorum` trainers have arrived. Each trainer without data lowers the quorum
/// by one, but never below one. Trainers that catch up with finished ones
/// contribute several gradients to a round, so that a round has as many
/// gradients as before, or a few more. Sums are rounds of all trainers.
std::unique_ptr<RoundPolicy> createQuorum(uint32_t quorum, LateGradients late);

} // namespace pdlrt

#endif // PDLRT_SERVER_ROUNDPOLICY_H
