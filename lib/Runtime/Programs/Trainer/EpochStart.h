//===- EpochStart.h - Start of an epoch -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_EPOCHSTART_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_EPOCHSTART_H

#include "Programs/Trainer/ResumptionPlan.h"
#include "Programs/Trainer/TrainingParts.h"
#include "Programs/Trainer/TrainingReader.h"
#include "Recovery/Recovery.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Engine/PassReport.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// Starts epochs: sets the position of the reader, the metrics and the counts.
/// A run that resumes may start in the middle of its first epoch. Not
/// thread-safe.
class EpochStart {
public:
  /// `data`: the training data, with the seed of the run. `parts` is copied.
  /// The objects that it refers to, and the other arguments, must outlive this
  /// object.
  EpochStart(const TrainingParts &parts, DataOptions data, ResumptionPlan &plan,
             Recovery &recovery, TrainingReader &reader);

  /// Starts `epoch`, and sets its counts in `report`.
  Status begin(int64_t epoch, PassReport &report);

private:
  Status resume(Resumption from, int64_t epoch, PassReport &report);
  Status restore(PassReport &report);
  bool isDividedSo(const EpochDivision &division) const;
  Expected<std::shared_ptr<const EpochRest>>
  divideAnew(const EpochDivision &from, std::vector<DataPosition> positions,
             std::shared_ptr<const EpochRest> before, int64_t steps) const;
  Status findRest(int64_t steps);

  const TrainingParts parts;
  const DataOptions data;
  ResumptionPlan &plan;
  Recovery &recovery;
  TrainingReader &reader;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_EPOCHSTART_H
