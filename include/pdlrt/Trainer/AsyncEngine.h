//===- AsyncEngine.h - The step of workers by themselves --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRAINER_ASYNCENGINE_H
#define PDLRT_TRAINER_ASYNCENGINE_H

#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Trainer/RemoteState.h"
#include "pdlrt/Trainer/StepEngine.h"
#include "pdlrt/Trainer/StepRows.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// One worker of mode async: its way to the servers, and its own mirror of the
/// parameters, because each worker sees another moment. Borrowed.
struct AsyncWorker {
  RemoteState *state = nullptr;
  Model *mirror = nullptr;
};

/// Trains in mode async: each worker pushes its own gradient, which servers
/// apply at once, and pulls what it needs next with the same message. A step of
/// the engine is one of each worker; trainers do not wait for each other. With
/// one worker in the job it computes what one process computes.
class AsyncEngine final : public StepEngine {
public:
  /// All outlive the engine. `workers`: one for each worker of `layout`, which
  /// has one local group.
  AsyncEngine(std::span<const AsyncWorker> workers, const pdl_program &program,
              const ReplicaLayout &layout, Scheduler &scheduler);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  /// Whether this process was asked to stop.
  bool stopped() const override;
  bool sumsOverJob() const override { return false; }
  ReplicaSet &replicas() override { return replicaSet; }
  StepCosts costs() const override;

private:
  Status prepareNext(bool none);
  /// Each worker that has something to say.
  Status exchange(bool first);

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  Scheduler &scheduler;
  std::vector<AsyncWorker> workers;
  ReplicaSet replicaSet;
  RoundSource source;
  int64_t preparedSamples = 0;
  /// By worker.
  std::vector<StepRows> rows;
  std::vector<const Contribution *> sums;
  std::vector<Status> statuses;
  StepCosts ownCosts;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_TRAINER_ASYNCENGINE_H
