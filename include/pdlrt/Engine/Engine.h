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
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Sum/Communicator.h"

#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Runs a program whose state is in this process: prepare, compute, check for
/// values that are not finite, exchange, apply. Only apply writes state, and it
/// cannot fail. Results depend on the number of groups and of workers in a
/// group, never on the number of threads.
///
/// The next batch is prepared beside the one that is computed, as it is with
/// servers: its keys are in the tables before the step before it is applied.
/// Not so where a group updates rows without gradient too, in which new ones
/// would take part.
class Engine final : public StepEngine {
public:
  /// All outlive the engine. The communicator's local groups, with `workers`
  /// replicas each, live here.
  Engine(Model &model, const pdl_program &program, int workers,
         Scheduler &scheduler, Communicator &communicator);
  /// The same among the groups of other processes: `layout` says which of them
  /// are the communicator's.
  Engine(Model &model, const pdl_program &program, const ReplicaLayout &layout,
         Scheduler &scheduler, Communicator &communicator);

  /// One step by itself. `inputs`: one for each replica; at least one has
  /// samples. On failure nothing of the step was applied.
  Expected<StepResult> step(std::span<const StepInput> inputs);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  bool stopped() const override;
  /// Where all groups of the job are the communicator's.
  bool sumsOverJob() const override {
    return replicaSet.layout().localGroups == replicaSet.layout().groups;
  }
  ReplicaSet &replicas() override { return replicaSet; }
  int roundsInUse() const override { return 2; }
  StepCosts costs() const override { return ownCosts; }

private:
  Expected<std::span<const StepInput>> read();
  Status computeBesideNext();
  Expected<StepResult> finishStep();
  Status exchangeAndApply(StepResult &result);

  Model &model;
  const pdl_program &program;
  Communicator &communicator;
  ReplicaSet replicaSet;
  std::vector<GradientBlock> blocks;
  Updater updater;
  RoundSource source;
  /// Whether the next batch may be prepared before a step is applied.
  const bool preparesAhead;
  /// Whether `source` has no more.
  bool ended = false;
  /// Whether the next round is prepared.
  bool isPrepared = false;
  /// Why what follows could not be prepared: told when it is its turn.
  Status failure;
  StepCosts ownCosts;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ENGINE_H
