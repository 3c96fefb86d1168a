//===- TrainingReader.h - Rounds of training data ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGREADER_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGREADER_H

#include "Programs/Trainer/TrainingParts.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchDump.h"
#include "pdlrt/Engine/StepEngine.h"

#include <cstdint>
#include <span>

namespace pdlrt {

/// Reads the batches of a training. If the data cannot be read after the first
/// step, the training ends as after a stop signal: after the current step, and
/// its result is saved. `TrainingState::dataFailure` has the error. Not
/// thread-safe.
class TrainingReader {
public:
  /// `dump` receives all batches; it may be null, and must outlive the reader.
  TrainingReader(const TrainingParts &parts, BatchDump *dump)
      : parts(parts), dump(dump) {}

  /// Starts to read an epoch. Returns an error only if the training must end at
  /// once.
  Status beginEpoch(int64_t epoch);
  /// Reads a round of the running epoch; empty at the end of the data.
  Expected<std::span<const StepInput>> readRound();

private:
  Status withoutData(Status failure);

  const TrainingParts parts;
  BatchDump *const dump;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGREADER_H
