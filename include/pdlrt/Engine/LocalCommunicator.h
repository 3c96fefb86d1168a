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

/// Communicator for state in this process, with all groups in this process:
/// sums over groups, then applies the optimizer rule. Stages read the state
/// directly, so no keys are sent. An exchange is a quiescent point of the
/// model.
class LocalCommunicator : public Communicator {
public:
  /// The arguments must outlive the communicator. If `layout` has groups in
  /// other processes, only the local groups are summed.
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
  /// Called before `merged`, which has passed all checks, is applied.
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
