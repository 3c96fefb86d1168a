//===- RoundPolicy.h - Who waits for whom at a server -----------*- C++ -*-===//
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

/// What has come of a round: its kind; by rank whether that trainer's request
/// is here, whether the trainer has, or may yet have, steps to end, and how
/// many it has ended since all met last, that of its request here included.
struct RoundContent {
  MessageKind kind = MessageKind::Exchange;
  std::vector<bool> hasCome;
  std::vector<bool> takesPart;
  std::vector<int64_t> steps;
  /// Gradients in it whose senders are answered: late ones, and those that came
  /// while it was not full.
  uint32_t answered = 0;
};

/// What becomes of gradients that come when their round is closed.
enum class LateGradients {
  /// They count in the round that is open then.
  Count,
  /// They do not count.
  Drop,
};

/// What distinguishes modes in the eyes of the protocol: which requests are
/// worked on together, when such a round is closed, and who is answered when.
/// A policy does not change. Thread-safe.
class RoundPolicy {
public:
  virtual ~RoundPolicy();

  /// Whether such a request of a step, or of sums, is part of a round. Others
  /// are taken by themselves, as they come.
  virtual bool formsRounds(MessageKind kind, const StepFacts &facts) const = 0;
  /// Whether the round waits for that trainer's request.
  virtual bool isDue(const RoundContent &round, uint32_t rank) const = 0;
  /// Whether the round, which holds requests or late gradients, waits for
  /// nobody else. All whose request has come are answered then.
  virtual bool isComplete(const RoundContent &round) const;
  /// Whether a complete round is closed. If not, its gradients stay in it, and
  /// others come to it.
  virtual bool isFull(const RoundContent &round) const {
    (void)round;
    return true;
  }
  /// Whether the round is closed only when all have come: so that requests are
  /// taken, in rank order, while others are waited for.
  virtual bool waitsForAll(MessageKind kind) const {
    (void)kind;
    return true;
  }
  /// Where a round does not wait for all: what becomes of a request that comes
  /// behind its end. It is answered at once, so that nobody waits for a round
  /// that it is not in.
  virtual LateGradients late() const { return LateGradients::Count; }
  /// Of a request of a step that forms no round and was taken: whether it is
  /// answered now. If not, it is asked again when others have gone on.
  virtual bool isAnswered(const StepProgress &progress,
                          const Envelope &request) const {
    (void)progress, (void)request;
    return true;
  }
};

/// Mode sync: steps and sums are rounds of all trainers.
const RoundPolicy &roundsOfSteps();
/// Modes async and half-async: only sums are rounds of all trainers; a step is
/// answered at once.
const RoundPolicy &roundsOfSums();
/// The same with bounded staleness (Ho et al., "More Effective Distributed ML
/// via a Stale Synchronous Parallel Parameter Server", 2013): the answer to a
/// step is held back while its sender is more than `bound` steps ahead of the
/// slowest sender of the job.
std::unique_ptr<RoundPolicy> createBoundedStaleness(int64_t bound);
/// Mode quorum (backup workers: Chen et al., "Revisiting Distributed
/// Synchronous SGD", 2016): a step is a round that is closed when the gradients
/// of `quorum` trainers have come; each trainer without data lowers the quorum
/// by one, but not below one. Those that catch up with trainers that have come
/// to their end give several gradients to a round, so that it has no fewer than
/// before, or some more. Sums are rounds of all.
std::unique_ptr<RoundPolicy> createQuorum(uint32_t quorum, LateGradients late);

} // namespace pdlrt

#endif // PDLRT_SERVER_ROUNDPOLICY_H
