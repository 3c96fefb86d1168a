//===- ProgramRun.h - A program on its engine and data ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_PROGRAMRUN_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_PROGRAMRUN_H

#include "Data/ContentDigest.h"
#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/RoundReader.h"
#include "pdlrt/Engine/StepEngine.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// One program with the engine and the data that it runs on. Not thread-safe.
struct ProgramRun {
  const pdl_program *program = nullptr;
  /// The files of its data.
  CopiedFiles files;
  std::unique_ptr<StepEngine> engine;
  std::unique_ptr<RoundReader> reader;

  /// Reads the next round, empty at the end; the engine may be one round
  /// behind. What it returns is valid until the next call.
  Expected<std::span<const StepInput>> readRound();
  RoundSource source() {
    return [this] { return readRound(); };
  }
  /// Where the readers stand after `steps` rounds of the pass.
  const std::vector<DataPosition> &positionsAfter(int64_t steps) const {
    return rounds > steps ? positionsBefore : reader->positions();
  }
  /// The bad rows of the pass that the readers have met there.
  int64_t badRowsAfter(int64_t steps) const {
    return rounds > steps ? badRowsBefore : reader->badRowCount();
  }

  /// Whether the pass has no more rounds because the process was asked to stop.
  bool brokenOff = false;
  /// Rounds read in this pass.
  int64_t rounds = 0;
  std::vector<DataPosition> positionsBefore;
  int64_t badRowsBefore = 0;
  /// Of the last pass, over all processes.
  PullCounts pulls;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_PROGRAMRUN_H
