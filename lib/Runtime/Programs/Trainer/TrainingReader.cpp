//===- TrainingReader.cpp - Rounds of training data -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainingReader.h"

#include "pdlrt/Core/StopSignal.h"

#include <csignal>
#include <utility>

using namespace pdlrt;

/// Handles a failure to read data. If no step was done, or if memory is
/// exhausted, returns `failure`. Otherwise stores it, requests a graceful
/// shutdown, and returns ok. A failed job could lose the checkpoint of the
/// previous epoch, which other processes may still write.
Status TrainingReader::withoutData(Status failure) {
  TrainingState &state = parts.state;
  const bool hasTrained =
      parts.run.rounds > 0 || state.totalSteps > state.resumedSteps;
  if (!hasTrained || failure.code() == PDL_OUT_OF_MEMORY)
    return failure;
  state.dataFailure = std::move(failure);
  noteStopSignal(SIGTERM);
  return {};
}

Status TrainingReader::beginEpoch(int64_t epoch) {
  Status status = parts.run.reader->beginEpoch(epoch);
  return status.ok() ? Status() : withoutData(std::move(status));
}

Expected<std::span<const StepInput>> TrainingReader::readRound() {
  // The epoch could not be started: this process has no data left.
  if (!parts.state.dataFailure.ok())
    return std::span<const StepInput>();
  ProgramRun &run = parts.run;
  Expected<std::span<const StepInput>> inputs = run.readRound();
  if (!inputs) {
    PDLRT_RETURN_IF_ERROR(withoutData(inputs.status()));
    return std::span<const StepInput>();
  }
  if (!dump)
    return inputs;
  const int replicasInGroup = parts.options.workers;
  const int64_t round = parts.state.position.totalStepsBefore + run.rounds - 1;
  for (size_t r = 0; r < inputs->size(); ++r)
    if ((*inputs)[r].samples > 0)
      PDLRT_RETURN_IF_ERROR(dump->add(run.reader->batch(int(r)), round,
                                      int(r) / replicasInGroup,
                                      int(r) % replicasInGroup));
  return inputs;
}
