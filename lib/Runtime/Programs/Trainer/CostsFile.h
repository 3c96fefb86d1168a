//===- CostsFile.h - What a step costs, for predictions ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_COSTSFILE_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_COSTSFILE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/BatchContext.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/State/Model.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pdlrt {

/// What one process has measured of its own training.
struct MeasuredSteps {
  StepCosts costs;
  /// Samples of a batch, and how many batches a step has.
  int64_t batchSize = 0, replicas = 1;
  /// Of all steps together; CPU of all threads.
  double seconds = 0, cpuSeconds = 0;
  /// Of the device, where there is one: bytes that its buffers had at the most,
  /// and of these those of each sample and key.
  size_t deviceBytes = 0;
  BatchContext::DeviceNeeds deviceNeeds = {};
};

/// Writes to `path` what `pdl-opt --ps-report=costs=` predicts the steps of a
/// job from: JSON, seconds and bytes. Throws std::bad_alloc.
Status writeCosts(const std::string &path, const MeasuredSteps &measured,
                  const Model &model);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_COSTSFILE_H
