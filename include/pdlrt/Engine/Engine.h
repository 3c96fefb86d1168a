//===- Engine.h - Workers that step together --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ENGINE_H
#define PDLRT_ENGINE_ENGINE_H

#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/Communicator.h"
#include "pdlrt/Engine/RecoveryParticipant.h"
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Runs a program with the workers of this process in lockstep: prepare,
/// compute, check for values that are not finite, exchange. The communicator
/// knows where the state is and which processes share it. Only the exchange
/// writes state. Results depend on the number of groups and of workers in a
/// group, never on the number of threads.
///
/// The next batch is prepared while the current one is computed, unless the
/// communicator requires otherwise. Its keys are then in the tables, or on
/// their way to servers, before the current step is applied.
class Engine final : public StepEngine,
                     private RecoveryParticipant,
                     private PreparedRows {
public:
  /// The references must outlive the engine.
  Engine(Model &model, const pdl_program &program, const ReplicaLayout &layout,
         Scheduler &scheduler, std::unique_ptr<Communicator> communicator);
  ~Engine() override;
  /// Creates an engine with all groups of `layout`, and all state, in this
  /// process.
  static std::unique_ptr<Engine> createLocal(Model &model,
                                             const pdl_program &program,
                                             const ReplicaLayout &layout,
                                             Scheduler &scheduler);

  /// Does a single step. `inputs`: one for each replica; at least one has
  /// samples. On failure, nothing of the step has been applied.
  Expected<StepResult> step(std::span<const StepInput> inputs);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  void requestSave() override { requestsSave = true; }
  RecoveryParticipant *recovery() override { return this; }
  bool stopped() const override { return communicator->stopped(); }
  bool sumsOverJob() const override { return communicator->sumsOverJob(); }
  ReplicaSet &replicas() override { return replicaSet; }
  int roundsInUse() const override { return 2; }
  StepCosts costs() const override;

private:
  using Groups = std::span<const PartialSum>;
  void observe(RequestObserver *newObserver) override {
    observer = newObserver;
  }
  Status resume(RoundSource source, ResumePoint point) override;
  void listPrepared(const Visit &visit) const override;
  Expected<std::span<const StepInput>> read(bool none);
  Status prepare(std::span<const StepInput> inputs);
  Status collectReads();
  Status open();
  Status openPrepared();
  Expected<Groups> compute(std::span<const StepInput> next);
  Expected<Groups> repeat(std::span<const StepInput> next);
  Expected<StepResult> finish(PendingStep step, Groups groups);
  Status exchange(const PendingStep *step, Groups groups);
  int64_t samples();

  Model &model;
  const pdl_program &program;
  std::unique_ptr<Communicator> communicator;
  /// True if an exchange also requests the state for the next step.
  const bool exchangesNext;
  ReplicaSet replicaSet;
  const std::vector<GradientBlock> blocks;
  RoundSource source;
  RoundOutcome outcome;
  /// True until the state for the pass's first step has been requested.
  bool beginsPass = false;
  /// True if the pending step has its batch, and can read the state.
  bool isOpen = false;
  /// True if the pending step's batch is already prepared, because the previous
  /// step prepared it in the background (`Replica::following`).
  bool isPrepared = false;
  /// True if the current step has tried to prepare the next batch. Even if this
  /// failed, rows may have been inserted.
  bool hasFollowing = false;
  bool requestsSave = false;
  /// True if `source` has no more rounds.
  bool ended = false;
  /// Why the next batch could not be prepared. Reported when its step starts.
  Status failure;
  /// Step of the previous incarnation of this process, until its round is done.
  std::optional<PendingStep> pending;
  RequestObserver *observer = nullptr;
  StepMetrics metrics;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ENGINE_H
