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

/// Runs a program with the workers of this process in lockstep. All workers
/// prepare and compute their batches. Then the engine checks that results are
/// finite, and exchanges the sums through the communicator, which knows where
/// the state is and which processes share it. Only the exchange updates the
/// state. Results depend on the number of groups and of workers in a group,
/// never on the number of threads.
///
/// The next batch is prepared while the current one is computed, unless
/// `Communicator::NextBatch` is AfterStep. So the keys of the next batch are
/// inserted into tables, or sent to servers, before the current step is
/// applied.
class Engine final : public StepEngine,
                     private RecoveryParticipant,
                     private PreparedRows {
public:
  /// The referenced objects must outlive the engine.
  Engine(Model &model, const pdl_program &program, const ReplicaLayout &layout,
         Scheduler &scheduler, std::unique_ptr<Communicator> communicator);
  ~Engine() override;
  /// Creates an engine for a job of one process: all groups of `layout` and the
  /// whole state are in this process.
  static std::unique_ptr<Engine> createLocal(Model &model,
                                             const pdl_program &program,
                                             const ReplicaLayout &layout,
                                             Scheduler &scheduler);

  /// Does a single step, without a pass. `inputs` has one entry for each
  /// replica; at least one must have samples. Errors are as in
  /// `StepEngine::next`.
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
  /// True if an exchange also requests the state for the next step
  /// (`Communicator::NextBatch::InExchange`).
  const bool exchangesNext;
  ReplicaSet replicaSet;
  const std::vector<GradientBlock> blocks;
  RoundSource source;
  RoundOutcome outcome;
  /// True at the start of a pass, until the state for its first step has been
  /// requested.
  bool beginsPass = false;
  /// True if the next step has its batch and the state that it reads.
  bool isOpen = false;
  /// True if the previous step has prepared the batch of the next step in the
  /// background (`Replica::following`).
  bool isPrepared = false;
  /// True if the current step has tried to prepare the next batch. The
  /// preparation may have inserted rows even if it failed.
  bool hasFollowing = false;
  bool requestsSave = false;
  /// True if `source` has no more rounds.
  bool ended = false;
  /// The error of preparing the next batch. It is returned when the next step
  /// starts.
  Status failure;
  /// Step that the previous incarnation of this process has sent, until its
  /// round is done.
  std::optional<PendingStep> pending;
  RequestObserver *observer = nullptr;
  StepMetrics metrics;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ENGINE_H
