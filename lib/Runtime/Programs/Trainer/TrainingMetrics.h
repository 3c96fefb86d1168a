//===- TrainingMetrics.h - Registered metrics of a training -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGMETRICS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGMETRICS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Engine/ReplicaSet.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pdlrt {

/// Metrics of the process with the progress of the training: its position, the
/// loss, and the metrics of the model. They are updated every few seconds.
class TrainingMetrics {
public:
  /// `descriptor` must outlive the object.
  TrainingMetrics(const pdl_descriptor &descriptor, const pdl_program &program);

  /// Sets the position. `epoch` counts from 0. `expectedSteps`: number of steps
  /// of the epoch; 0: not known. `totalSteps`: steps of the whole training.
  void setPosition(int64_t epoch, int64_t steps, int64_t expectedSteps,
                   int64_t totalSteps);
  /// Sets the mean loss of the latest steps. NaN: there is none.
  void setLoss(double loss);
  /// Sets the values of the model's metrics in the epoch so far. No step may
  /// run concurrently.
  void setMetrics(const ReplicaSet &replicas);

private:
  void setMetric(int32_t index, double value);

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  Gauge epoch, epochSteps, expectedSteps, totalSteps;
  // Without a value until there is one.
  std::optional<Gauge> loss;
  std::vector<std::optional<Gauge>> metrics;
};

/// Calls `visit` with the index and the value of each metric of the model on
/// the samples of this process in the running epoch. Values may be NaN. Leaves
/// out metrics of groups, whose samples are sorted at the end of an epoch. No
/// step may run concurrently.
void visitModelMetrics(
    const pdl_descriptor &descriptor, const ReplicaSet &replicas,
    const std::function<void(int32_t index, double value)> &visit);

/// Declares the metrics, so that they appear in lists of metrics before the
/// first step.
void declareTrainingMetrics();

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGMETRICS_H
