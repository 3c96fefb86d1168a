//===- Communicator.h - How a step's gradients become state -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The seam between a step and the state: whether that is in this process or on
// servers, alone or shared with others, an engine gives what its groups have
// summed, and goes on with what the next step reads.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_COMMUNICATOR_H
#define PDLRT_ENGINE_COMMUNICATOR_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/ReplicaSet.h"
#include "pdlrt/Engine/RoundOutcome.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/Sum/Contribution.h"

#include <span>

namespace pdlrt {

/// What a process brings to an exchange.
struct StepOffer {
  /// Nothing but what the next step reads: there is no step before it, or that
  /// one was exchanged without.
  bool opens = false;
  /// It opens the first step of a pass: the state may have changed in between.
  bool beginsPass = false;
  /// One contribution for each local group, in order, each the sum of its
  /// workers. Empty where it opens, and where an earlier start of this process
  /// has given them.
  std::span<const Contribution> groups;
  /// Whether this process has a batch for the next step.
  bool contributesNext = false;
  /// Whether this process was asked to stop.
  bool stop = false;
  /// Whether it wants a checkpoint after this step.
  bool save = false;
};

/// Exchanges the steps of one program. All processes of a job make the same
/// calls in the same order. Calls block. After an error, one sentence, no other
/// call follows, and nothing of that step was applied. One thread at a time.
class Communicator {
public:
  virtual ~Communicator();

  /// When the batch of the next step is read and prepared.
  enum class NextBatch {
    /// After the step: rows that it makes would take part in the step.
    AfterStep,
    /// Beside the step, and opened after it. What fails is told in its turn.
    BesideStep,
    /// Beside the step, whose exchange says what it reads. What fails ends the
    /// step.
    InExchange,
  };
  virtual NextBatch nextBatch() const = 0;

  /// Finds out what the next step reads: what `replicas` have prepared last.
  /// They stay as they are until the exchange that follows. Throws
  /// std::bad_alloc.
  virtual Status takeUp(ReplicaSet &replicas) = 0;
  /// Merges what all processes give, in the settled order (RunningSum.h),
  /// updates the state, and sees that the step that was taken up last can read
  /// it.
  virtual Expected<RoundOutcome> exchange(const StepOffer &offer) = 0;

  /// Who takes dense gradients while a step is computed, from the single local
  /// group; null: nobody.
  virtual EarlyGradients *early() { return nullptr; }

  /// Whether the job ends after the last exchange, because somebody was asked
  /// to stop: equal on all processes that exchange with each other.
  virtual bool stopped() const = 0;
  /// Whether outcomes are of the whole job, or of this process.
  virtual bool sumsOverJob() const = 0;
  /// Adds what exchanges have cost so far.
  virtual void addCosts(StepCosts &costs) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COMMUNICATOR_H
