//===- StepEngine.h - Drives a program step by step -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_STEPENGINE_H
#define PDLRT_ENGINE_STEPENGINE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/ReplicaSet.h"
#include "pdlrt/Engine/RoundOutcome.h"
#include "pdlrt/Engine/StepCosts.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

class RecoveryParticipant;

/// Result of a step. Sums cover all replicas of the job if
/// `StepEngine::sumsOverJob` is true, otherwise the replicas of this process.
struct StepResult : StepSums {
  /// Number of samples of this process's replicas.
  int64_t samples = 0;
  /// True if the update was skipped because the sum of weights is zero.
  bool skipped = false;
  /// True if a process of the job requested a checkpoint after this step
  /// (`requestSave`). All processes get the same value.
  bool wantsSave = false;
};

/// Function that reads the next round. Returns one input for each replica of
/// this process, or an empty list if this process is out of data. The inputs
/// must stay valid during the next `StepEngine::roundsInUse` - 1 calls.
using RoundSource = std::function<Expected<std::span<const StepInput>>()>;

/// Runs the steps of a program on the rounds of a source. It hides from its
/// caller whether the state is in this process or on servers. Not thread-safe.
class StepEngine {
public:
  virtual ~StepEngine();

  /// Starts a pass over the rounds of `source`, which must stay valid until the
  /// next `begin`.
  virtual Status begin(RoundSource source) = 0;
  /// Does one step. Returns nullopt if all processes of the job are out of
  /// data. `last` is true if no further step follows in this pass; then no
  /// round is read in advance. After an error, no further step may follow. If
  /// the whole state is in this process and its workers step together, nothing
  /// of the failed step has been applied. Otherwise parts of it may have been
  /// applied.
  virtual Expected<std::optional<StepResult>> next(bool last) = 0;
  /// Allows the engine to do the next `steps` steps before `next` is called for
  /// them. `last` is true if no further step follows in this pass. Until `next`
  /// has returned the last of these steps, the caller must call `rest` before
  /// it reads data that a step changes. An engine may ignore this hint and do
  /// one step per call of `next`.
  virtual void goAhead(int64_t /*steps*/, bool /*last*/) {}
  /// Requests a checkpoint after the next step. All processes of the job learn
  /// of it with that step (`StepResult::wantsSave`). Only for engines whose
  /// sums cover the job (`sumsOverJob`).
  virtual void requestSave() {}
  /// Blocks until no step is in progress. The counters of replicas and the
  /// state may then include steps that `next` has not returned yet.
  virtual void rest() {}
  /// Returns the engine's interface for recovery, or null if its steps cannot
  /// resume after a restart of the process.
  virtual RecoveryParticipant *recovery() { return nullptr; }

  /// Returns true if the job ends after the last step because a shutdown was
  /// requested. All processes of the job end after the same step.
  virtual bool stopped() const = 0;

  /// Returns true if the sums of a result cover the whole job.
  virtual bool sumsOverJob() const = 0;

  virtual ReplicaSet &replicas() = 0;
  /// Returns the number of rounds of the source that the engine uses at the
  /// same time.
  virtual int roundsInUse() const { return 1; }

  /// Returns the costs of all steps so far.
  virtual StepCosts costs() const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPENGINE_H
