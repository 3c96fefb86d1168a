//===- Engine.h - The step of a program -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRAINER_ENGINE_H
#define PDLRT_TRAINER_ENGINE_H

#include "pdlrt/Comm/Communicator.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Trainer/Model.h"
#include "pdlrt/Trainer/Replica.h"
#include "pdlrt/Trainer/Updater.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// What a step did. Sums are those over all replicas.
struct StepResult {
  double lossSum = 0;
  double weightSum = 0;
  /// A zero sum of weights skips the update.
  bool skipped = false;
};

/// Runs a program in steps, on all replicas of this process: prepare, compute,
/// check for values that are not finite, exchange, apply. Only apply writes
/// state, and it cannot fail. Results depend on the number of groups and of
/// workers in a group, never on the number of threads. One thread at a time.
class Engine {
public:
  /// All outlive the engine. The communicator's local groups, with `workers`
  /// replicas each, live here.
  Engine(Model &model, const pdl_program &program, int workers,
         Scheduler &scheduler, Communicator &communicator);

  /// Local groups times workers.
  int replicaCount() const { return int(replicas.size()); }
  /// Worker w of local group g is replica g * workers + w.
  Replica &replica(int index) { return *replicas[index]; }

  /// One step. `inputs`: one for each replica; at least one has samples. On
  /// failure nothing of the step was applied.
  Expected<StepResult> step(std::span<const StepInput> inputs);

  /// Adds the metrics of all replicas, workers of a group first, then groups,
  /// to zeroed accumulators laid out for the descriptor's metric `index`.
  void sumMetric(int32_t index, pdl_metric_data &sum) const;
  /// Zeroes metrics and pull counts of all replicas.
  void resetCounters();
  /// What the pulls of all replicas met since the last reset.
  PullCounts pullCounts() const;

private:
  Model &model;
  const pdl_program &program;
  const int workers;
  Scheduler &scheduler;
  Communicator &communicator;
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<GradientBlock> blocks;
  Updater updater;
  /// One place for each replica, so that the first error in order is reported.
  std::vector<Status> statuses;
  std::vector<std::string> nonFinite;
  std::vector<Contribution> workerParts, groupParts;
  std::vector<ContributionSum> groupSums;
};

} // namespace pdlrt

#endif // PDLRT_TRAINER_ENGINE_H
