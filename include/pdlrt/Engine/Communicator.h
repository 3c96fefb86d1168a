//===- Communicator.h - Exchange of gradients and state ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between a step and the state. An engine passes the partial sums
// of its groups and continues with the state that the next step reads. It does
// not depend on whether the state is in this process or on servers, or whether
// it is shared with other processes.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_COMMUNICATOR_H
#define PDLRT_ENGINE_COMMUNICATOR_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/ReplicaSet.h"
#include "pdlrt/Engine/RoundOutcome.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/Sum/PartialSum.h"

#include <span>

namespace pdlrt {

/// The contribution of one process to an exchange.
struct StepRequest {
  /// If true, there are no gradients; only the state for the next step is
  /// requested. Set for the first step of a pass, and after a step that was
  /// exchanged without a successor.
  bool requestOnly = false;
  /// True for the first step of a pass. The state may have changed since the
  /// previous step.
  bool beginsPass = false;
  /// Partial sums, one per local group in group order; each is the sum over the
  /// group's workers. Empty if `requestOnly`, or if the previous incarnation of
  /// this process has already sent them.
  std::span<const PartialSum> groups;
  /// True if this process has a batch for the next step.
  bool hasNextBatch = false;
  /// True if this process was asked to shut down.
  bool stop = false;
  /// True if this process requests a checkpoint after this step.
  bool save = false;
};

/// Exchanges the partial sums of a program's steps between all processes of the
/// job, and makes the state available that the next step reads.
///
/// All processes of a job make the same calls in the same order. Calls block.
/// If a call fails, nothing of that step has been applied, and no further call
/// is allowed. Not thread-safe.
class Communicator {
public:
  virtual ~Communicator();

  /// Defines when the batch of the next step is read and prepared.
  enum class NextBatch {
    /// After the step, because rows inserted earlier would take part in it.
    AfterStep,
    /// During the step; its state is requested after the step. Errors are
    /// reported when the next step starts.
    DuringStep,
    /// During the step; the exchange of that step requests its rows. Errors
    /// fail the step.
    InExchange,
  };
  virtual NextBatch nextBatch() const = 0;

  /// Collects the keys and parameters that the last prepared batches of
  /// `replicas` will read. The batches must stay unchanged until the following
  /// `exchange`. Throws std::bad_alloc.
  virtual Status collectReads(ReplicaSet &replicas) = 0;
  /// Sums the contributions of all processes in the fixed order (RunningSum.h),
  /// updates the state, and fetches the data that `collectReads` collected
  /// last.
  virtual Expected<RoundOutcome> exchange(const StepRequest &stepRequest) = 0;

  /// Returns the receiver of dense gradients during a step, from the single
  /// local group; null if gradients are only exchanged after the step.
  virtual EarlyGradients *early() { return nullptr; }

  /// Returns true if the job ends after the last exchange because of a shutdown
  /// request. The result is the same on all processes that exchange with each
  /// other.
  virtual bool stopped() const = 0;
  /// Returns true if outcomes cover the whole job, false if only this process.
  virtual bool sumsOverJob() const = 0;
  /// Adds the costs of all exchanges so far.
  virtual void addCosts(StepCosts &costs) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COMMUNICATOR_H
