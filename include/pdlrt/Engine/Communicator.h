//===- Communicator.h - Exchange of gradients and state ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between the steps of an engine and the model's state. An engine
// passes the partial sums of its groups, and gets the state that its next step
// reads. So engines need not know whether the state is in this process or on
// servers, and whether other processes share it.
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
  /// requested. Set for the first step of a pass. Also set if the last exchange
  /// did not request the next step's state, because no next step was known.
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
/// If steps are rounds of the job, all processes make the same calls in the
/// same order. Calls block. If a call fails, no further call is allowed. Then
/// nothing of that step has been applied to a state in this process, but
/// servers may have applied it. Not thread-safe.
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

  /// Collects the keys and parameters that the batches which `replicas` have
  /// prepared last will read. These batches must stay unchanged until the
  /// following `exchange`. Throws std::bad_alloc.
  virtual Status collectReads(ReplicaSet &replicas) = 0;
  /// Sums the contributions of all processes in the fixed order (RunningSum.h),
  /// updates the state, and fetches the data that `collectReads` collected
  /// last.
  virtual Expected<RoundOutcome> exchange(const StepRequest &stepRequest) = 0;

  /// Returns the receiver of dense gradients during a step, or null if
  /// gradients are only exchanged after the step. Only for engines with one
  /// local group.
  virtual EarlyGradients *early() { return nullptr; }

  /// Returns true if the job ends after the last exchange because a shutdown
  /// was requested. All processes that exchange with each other get the same
  /// result.
  virtual bool stopped() const = 0;
  /// Returns true if the sums in outcomes cover the whole job, false if they
  /// cover only this process.
  virtual bool sumsOverJob() const = 0;
  /// Adds the costs of all exchanges so far to `costs`.
  virtual void addCosts(StepCosts &costs) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COMMUNICATOR_H
