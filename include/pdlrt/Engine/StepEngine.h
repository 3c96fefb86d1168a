//===- StepEngine.h - What drives a program step by step --------*- C++ -*-===//
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

/// What a step did. Sums are those over all replicas of the job, if the engine
/// says so, else over those of this process.
struct StepResult : StepSums {
  /// Of this process's replicas.
  int64_t samples = 0;
  /// Without any weight the update is skipped.
  bool skipped = false;
  /// Some process of the job wants a checkpoint after this step; then all of
  /// them know it (`askForSave`).
  bool wantsSave = false;
};

/// A step of this process whose round is under way.
struct PendingStep {
  /// Of this process's replicas.
  int64_t samples = 0;
  /// Whether this process told the others that it was asked to stop.
  bool stop = false;
};

/// How far a worker that steps by itself is in a pass, as its next request
/// says.
struct WorkerMark {
  /// How many results are kept: as many as a worker may be ahead of what `next`
  /// has returned, and one.
  static constexpr int64_t mostResults = 5;

  /// Steps whose gradients it has sent, the request included; -1: it has sent
  /// nothing in this pass.
  int64_t done = -1;
  /// Whether there is a round behind them, whose keys the request may bring.
  bool hasNext = false;
  /// Of its last steps, up to `done`.
  std::vector<StepResult> results;
};

/// Reads the next round: one input for each replica of this process; an empty
/// list when this process is out of data. Valid for as many further calls as
/// the engine has `roundsInUse`.
using RoundSource = std::function<Expected<std::span<const StepInput>>()>;

/// Runs a program in steps on the rounds of a source. Whether state is in this
/// process or on servers makes no difference to who drives it. One thread at a
/// time.
class StepEngine {
public:
  virtual ~StepEngine();

  /// Begins a pass over the rounds of `source`, which stays until the next
  /// `begin`.
  virtual Status begin(RoundSource source) = 0;
  /// One step; none when all processes of the job are out of data. `last`: no
  /// step will follow in this pass, so that no round is read in advance. On
  /// failure nothing of the step was applied.
  virtual Expected<std::optional<StepResult>> next(bool last) = 0;
  /// Before `next`: allows the engine to do that many steps before it is asked
  /// for them; `last`: none follows them in this pass. Until `next` has
  /// returned the last of them, the caller does not look at what a step changes
  /// without `rest`. An engine may ignore it, and does one step at a time.
  virtual void goAhead(int64_t /*steps*/, bool /*last*/) {}
  /// The next step says to all processes of the job that a checkpoint is wanted
  /// after it. Only of an engine whose sums are those of the job
  /// (`sumsOverJob`).
  virtual void askForSave() {}
  /// Blocks until nothing goes on. What replicas have counted, and the state,
  /// may then be that of some steps more than `next` has returned.
  virtual void rest() {}
  /// Instead of `begin`, where an earlier start of this process has sent its
  /// part of a step to all servers: the step that `next` does is that one, with
  /// what the servers answer. The first round of `source` is that of the step
  /// after it.
  virtual Status resume(const RoundSource &source, const PendingStep &step);
  using RoundAction = std::function<void(const PendingStep *step)>;
  /// Before each round of all processes, from the next `begin` or `resume` on:
  /// calls `action` with the step whose gradients are sent, null in a round
  /// that brings keys only. Its metrics are observed, and the round after it
  /// was read. An engine without others does not call it.
  virtual void beforeRounds(const RoundAction &action);

  /// Before each request of a worker that steps by itself, from the next
  /// `begin` or `resumeWorkers` on: calls `action`, on the worker's own thread.
  /// What its replica has observed is that of the steps in the mark. An engine
  /// whose workers do not send by themselves does not call it.
  using WorkerAction = std::function<void(int worker, const WorkerMark &mark)>;
  virtual void beforeRequests(const WorkerAction &action);
  /// Instead of `begin`, where an earlier start of this process was in a pass
  /// whose workers step by themselves.
  struct WorkersAt {
    /// By worker. The request that a mark came with is repeated first.
    std::vector<WorkerMark> marks;
    /// The least number of steps that any of them has done; the first round of
    /// the source is that of the step behind these.
    int64_t firstRound = 0;
    /// Steps of the pass that `next` has returned.
    int64_t taken = 0;
    /// As `goAhead` would say then.
    int64_t allowed = 0;
    bool last = false;
  };
  virtual Status resumeWorkers(RoundSource source, WorkersAt at);

  /// True if the job ends after the last step, because somebody was asked to
  /// stop: then all its processes see it after the same step.
  virtual bool stopped() const = 0;

  /// Whether the sums of a result are those of the whole job.
  virtual bool sumsOverJob() const = 0;

  virtual ReplicaSet &replicas() = 0;
  /// How many rounds of its source it looks at at once.
  virtual int roundsInUse() const { return 1; }

  /// What all steps so far have cost.
  virtual StepCosts costs() const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPENGINE_H
