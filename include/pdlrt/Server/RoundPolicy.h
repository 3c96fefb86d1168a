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

/// Content of an open round. The vectors are indexed by the rank of trainers.
/// `hasCome`: the trainer's request has arrived. `takesPart`: the trainer has,
/// or may still have, steps to finish. `steps`: number of steps that the
/// trainer has finished since the last round of sums, including the step of its
/// request in this round.
struct RoundContent {
  MessageKind kind = MessageKind::Exchange;
  std::vector<bool> hasCome;
  std::vector<bool> takesPart;
  std::vector<int64_t> steps;
  /// Number of gradients in the round whose senders have already got a
  /// response: late gradients, and gradients that the round already had when it
  /// was complete but not full.
  uint32_t answered = 0;
};

/// Treatment of gradients that arrive after their round was closed.
enum class LateGradients {
  /// They are added to the round that is open at that time.
  Count,
  /// They are dropped.
  Drop,
};

/// The rules of a mode for the protocol: which requests form rounds, when a
/// round is closed, and when requests are answered. Immutable. Thread-safe.
class RoundPolicy {
public:
  virtual ~RoundPolicy();

  /// Returns true if a request of this kind, which belongs to a step or to
  /// sums, is part of a round. Other requests are handled one by one as they
  /// arrive.
  virtual bool formsRounds(MessageKind kind, const StepFacts &facts) const = 0;
  /// Returns true if the round waits for a request of trainer `rank`.
  virtual bool isExpected(const RoundContent &round, uint32_t rank) const = 0;
  /// Returns true if the round waits for no further request; then all its
  /// requests are answered. The round must have requests or late gradients.
  virtual bool isComplete(const RoundContent &round) const;
  /// Returns true if a complete round is closed. Otherwise the round stays open
  /// with its gradients, and further gradients are added to it.
  virtual bool isFull(const RoundContent &round) const {
    (void)round;
    return true;
  }
  /// Returns true if rounds of this kind wait for the requests of all trainers.
  /// Then requests can be taken in the order of ranks while later ones are
  /// still missing.
  virtual bool waitsForAll(MessageKind kind) const {
    (void)kind;
    return true;
  }
  /// Returns the treatment of gradients that arrive after the end of their
  /// round, for rounds that do not wait for all trainers. Such a request is
  /// answered immediately, because its trainer is not part of the open round.
  virtual LateGradients late() const { return LateGradients::Count; }
  /// Returns true if a request of a step that is not part of a round, and that
  /// was taken, may be answered now. If false, the server asks again after
  /// other senders have made progress.
  virtual bool isRespondedTo(const StepProgress &progress,
                             const Envelope &request) const {
    (void)progress, (void)request;
    return true;
  }
};

/// Returns the policy of mode sync: steps and sums are rounds of all trainers.
const RoundPolicy &roundsOfSteps();
/// Returns the policy of modes async and half-async: only sums are rounds of
/// all trainers. Requests of steps are answered immediately.
const RoundPolicy &roundsOfSums();
/// Creates a policy like `roundsOfSums` with bounded staleness: the response to
/// a step is delayed while its sender is more than `bound` steps ahead of the
/// slowest sender. See Ho et al., "More Effective Distributed ML via a Stale
/// Synchronous Parallel Parameter Server", 2013.
std::unique_ptr<RoundPolicy> createBoundedStaleness(int64_t bound);
/// Creates the policy of mode quorum (backup workers: Chen et al., "Revisiting
/// Distributed Synchronous SGD", 2016). A round of steps is closed when the
/// gradients of `quorum` trainers have arrived. Each trainer without data
/// lowers the quorum by one, but not below one. If some trainers have no data
/// left while slower ones still have steps to do, the slower ones add several
/// gradients to one round. So the last rounds have as many gradients as earlier
/// ones, or a few more. Sums are rounds of all trainers.
std::unique_ptr<RoundPolicy> createQuorum(uint32_t quorum, LateGradients late);

} // namespace pdlrt

#endif // PDLRT_SERVER_ROUNDPOLICY_H
