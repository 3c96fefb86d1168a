//===- RemoteEngine.h - The step of a program with servers ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_REMOTEENGINE_H
#define PDLRT_ENGINE_REMOTEENGINE_H

#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/RemoteState.h"
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Engine/StepRows.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pdlrt {

/// Checks that an engine with servers can run `program`: each table has at most
/// one lookup.
Status checkRemoteProgram(const pdl_descriptor &descriptor,
                          const pdl_program &program);

/// Trains with the workers of this process in step: their sum travels. In mode
/// sync a step is a round of all trainers of the job; in mode half-async it is
/// this process's own. The exchange of a step carries the keys of the next one,
/// so the next batch is prepared beside the one that is computed.
class RemoteEngine final : public StepEngine {
public:
  /// All outlive the engine. `model` is a mirror of the state, and `layout` has
  /// one local group.
  RemoteEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler,
               RemoteState &state);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  Status resume(const RoundSource &source, const PendingStep &step) override;
  void beforeRounds(const RoundAction &action) override {
    roundAction = action;
  }
  bool stopped() const override { return outcome.stop; }
  bool sumsOverJob() const override;
  ReplicaSet &replicas() override { return replicaSet; }
  int roundsInUse() const override { return 2; }
  StepCosts costs() const override;

private:
  /// The next round, or none.
  Expected<std::span<const StepInput>> read(bool none);
  Status prepare(std::span<const StepInput> inputs);
  /// Computes the current round, and prepares the next one beside it.
  Status computeBeside(std::span<const StepInput> next);
  /// Finds out which rows the replicas need of what was prepared last.
  Status gatherRows();
  /// Of the current round.
  int64_t samples();
  /// Sends `sum`, of `step` (null: the first round), with the keys of what was
  /// prepared last.
  Status exchange(const PendingStep *step, const Contribution *sum);

  Model &model;
  const pdl_program &program;
  RemoteState &state;
  ReplicaSet replicaSet;
  std::vector<GradientBlock> blocks;
  RoundSource source;
  /// Of the step that is computed next: rows of the one before it are not read
  /// any more when those of the next come in.
  StepRows rows;
  RoundOutcome outcome;
  /// Of an earlier start of this process; until its round is done.
  std::optional<PendingStep> pending;
  RoundAction roundAction;
  StepCosts ownCosts;
  Stopwatch stopwatch;
};

/// Runs a frozen program: rows come for each batch, between prepare and
/// compute. Trainers do not wait for each other.
class RemoteFrozenEngine final : public StepEngine {
public:
  /// All outlive the engine. `model` is a mirror of the state.
  RemoteFrozenEngine(Model &model, const pdl_program &program,
                     const ReplicaLayout &layout, Scheduler &scheduler,
                     RemoteState &state);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  /// Whether this process was asked to stop.
  bool stopped() const override;
  bool sumsOverJob() const override { return false; }
  ReplicaSet &replicas() override { return replicaSet; }
  StepCosts costs() const override;

private:
  void countUnknown(const RowRequest &request, int32_t lookup);

  Model &model;
  const pdl_program &program;
  RemoteState &state;
  ReplicaSet replicaSet;
  RoundSource source;
  StepRows rows;
  /// No batch of this pass has been pulled for.
  bool isFirst = true;
  std::vector<std::vector<uint8_t>> unknown;
  std::vector<uint8_t *> unknownPointers;
  StepCosts ownCosts;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REMOTEENGINE_H
