//===- CostsFile.h - Measured costs of a step -------------------*- C++ -*-===//
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

/// Measurements of one process about its own training.
struct MeasuredSteps {
  StepCosts costs;
  /// Number of samples in a batch, and of batches in a step.
  int64_t batchSize = 0, replicas = 1;
  /// Totals over all steps. The CPU time is that of all threads.
  double seconds = 0, cpuSeconds = 0;
  /// Set only if the program computes on devices: maximum number of bytes of a
  /// device's buffers so far, and the part of them that each sample and each
  /// key needs.
  size_t deviceBytes = 0;
  BatchContext::DeviceNeeds deviceNeeds = {};
};

/// Writes measurements to `path`, as JSON with seconds and bytes. `pdl-opt
/// --ps-report=costs=` reads them to predict the step time of a job. Throws
/// std::bad_alloc.
Status writeCosts(const std::string &path, const MeasuredSteps &measured,
                  const Model &model);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_COSTSFILE_H
