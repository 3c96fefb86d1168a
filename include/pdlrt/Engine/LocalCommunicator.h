//===- LocalCommunicator.h - All state is in this process -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_LOCALCOMMUNICATOR_H
#define PDLRT_ENGINE_LOCALCOMMUNICATOR_H

#include "pdlrt/Engine/Communicator.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Sum/RunningSum.h"

#include <vector>

namespace pdlrt {

/// All groups live in this process, and so does the state: sums over groups,
/// then the rule. Stages read the state themselves, so keys need no way. An
/// exchange is a quiescent point of the model.
class LocalCommunicator : public Communicator {
public:
  /// All outlive the communicator. Where `layout` has groups elsewhere, those
  /// here are summed alone.
  LocalCommunicator(Model &model, const pdl_program &program,
                    const ReplicaLayout &layout, Scheduler &scheduler);

  NextBatch nextBatch() const override { return whenNext; }
  Status takeUp(ReplicaSet &) override { return {}; }
  Expected<RoundOutcome> exchange(const StepOffer &offer) override;
  bool stopped() const override;
  bool sumsOverJob() const override { return isWholeJob; }
  void addCosts(StepCosts &costs) const override { costs.apply += seconds; }

protected:
  /// Before `merged`, which has passed all checks, is applied.
  virtual void noteUpdate(const Contribution &merged) { (void)merged; }

private:
  Status checkSums(const Contribution &merged);
  Status apply(const Contribution &merged);

  Model &model;
  const pdl_program &program;
  Scheduler &scheduler;
  const bool isSum;
  const bool isWholeJob;
  const NextBatch whenNext;
  const std::vector<GradientBlock> blocks;
  RunningSum sum;
  Updater updater;
  double seconds = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_LOCALCOMMUNICATOR_H
