//===- Engine.h - The step of a program -------------------------*- C++ -*-===//
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
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Runs a program with the workers of this process in step: prepare, compute,
/// check for values that are not finite, exchange. Where the state is, and who
/// shares it, is its communicator's affair. Only the exchange writes state.
/// Results depend on the number of groups and of workers in a group, never on
/// the number of threads.
///
/// The next batch is prepared beside the one that is computed, unless the
/// communicator says otherwise: its keys are then in the tables, or on their
/// way to servers, before the step before it is applied.
class Engine final : public StepEngine, private PreparedRows {
public:
  /// All references outlive the engine.
  Engine(Model &model, const pdl_program &program, const ReplicaLayout &layout,
         Scheduler &scheduler, std::unique_ptr<Communicator> communicator);
  ~Engine() override;
  /// With all groups of `layout`, and all state, in this process.
  static std::unique_ptr<Engine> createLocal(Model &model,
                                             const pdl_program &program,
                                             const ReplicaLayout &layout,
                                             Scheduler &scheduler);

  /// One step by itself. `inputs`: one for each replica; at least one has
  /// samples. On failure nothing of the step was applied.
  Expected<StepResult> step(std::span<const StepInput> inputs);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  Status resume(const RoundSource &source, const PendingStep &step) override;
  void beforeRounds(const RoundAction &action) override {
    roundAction = action;
  }
  void askForSave() override { asksForSave = true; }
  bool stopped() const override { return communicator->stopped(); }
  bool sumsOverJob() const override { return communicator->sumsOverJob(); }
  ReplicaSet &replicas() override { return replicaSet; }
  int roundsInUse() const override { return 2; }
  StepCosts costs() const override;

private:
  using Groups = std::span<const Contribution>;
  void listPrepared(const Visit &visit) const override;
  Expected<std::span<const StepInput>> read(bool none);
  Status prepare(std::span<const StepInput> inputs);
  Status takeUp();
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
  /// Whether exchanges say what the next step reads.
  const bool exchangesNext;
  ReplicaSet replicaSet;
  const std::vector<GradientBlock> blocks;
  RoundSource source;
  RoundOutcome outcome;
  /// Whether no step of the pass was opened yet.
  bool beginsPass = false;
  /// Whether the step that is due has its batch, and can read the state.
  bool isOpen = false;
  /// Whether the batch of the step that is due is prepared behind that of the
  /// step before it.
  bool isPrepared = false;
  /// Whether it was tried to prepare that batch, which may have made rows.
  bool hasFollowing = false;
  bool asksForSave = false;
  /// Whether `source` has no more.
  bool ended = false;
  /// Why what follows could not be prepared: told when it is its turn.
  Status failure;
  /// Of an earlier start of this process; until its round is done.
  std::optional<PendingStep> pending;
  RoundAction roundAction;
  StepCosts ownCosts;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ENGINE_H
