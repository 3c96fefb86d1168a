//===- LocalCommunicator.h - State in the same process ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_LOCALCOMMUNICATOR_H
#define PDLRT_ENGINE_LOCALCOMMUNICATOR_H

#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Engine/Communicator.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Sum/RunningSum.h"

#include <vector>

namespace pdlrt {

/// Communicator for a job of one process, which has the whole state and all
/// groups. An exchange sums over the groups, then applies the optimizer rules.
/// Stages read the state directly, so no keys are collected. An exchange that
/// applies rules is a quiescent point of the model (QuiescentPoints.h).
class LocalCommunicator : public Communicator {
public:
  /// If `layout` has groups in other processes, sums over the local groups
  /// only. The arguments must outlive the communicator.
  LocalCommunicator(Model &model, const pdl_program &program,
                    const ReplicaLayout &layout, Scheduler &scheduler);

  NextBatch nextBatch() const override { return whenNext; }
  Status collectReads(ReplicaSet &) override { return {}; }
  Expected<RoundOutcome> exchange(const StepRequest &stepRequest) override;
  bool stopped() const override;
  bool sumsOverJob() const override { return isWholeJob; }
  void addCosts(StepCosts &costs) const override {
    costs.apply += applySeconds.value();
  }

protected:
  /// Called before the sum `merged` is applied. It has passed all checks.
  virtual void noteUpdate(const PartialSum &merged) { (void)merged; }

private:
  Status checkSums(const PartialSum &merged);
  Status apply(const PartialSum &merged);

  Model &model;
  const pdl_program &program;
  Scheduler &scheduler;
  const bool isSum;
  const bool isWholeJob;
  const NextBatch whenNext;
  const std::vector<GradientBlock> blocks;
  RunningSum sum;
  Updater updater;
  RealCounter applySeconds;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_LOCALCOMMUNICATOR_H
