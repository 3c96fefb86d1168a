//===- ProgramRun.h - Program with its engine and data ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_ENGINE_PROGRAMRUN_H
#define LIB_RUNTIME_ENGINE_PROGRAMRUN_H

#include "Data/ContentDigest.h"
#include "pdlabi/abi/descriptor.h"
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
  /// Files of the data that the program reads.
  CopiedFiles files;
  std::unique_ptr<StepEngine> engine;
  std::unique_ptr<RoundReader> reader;

  /// Reads the batches of the next step. The result is empty at the end of the
  /// data, and valid until the next call. The reader may be one step ahead of
  /// the engine.
  Expected<std::span<const StepInput>> readRound();
  RoundSource source() {
    return [this] { return readRound(); };
  }
  /// Returns the positions of the readers after `steps` rounds of the pass: all
  /// rounds that were read, or one less.
  const std::vector<DataPosition> &positionsAfter(int64_t steps) const {
    return rounds > steps ? positionsBefore : reader->positions();
  }
  /// Returns the number of bad rows in these rounds and before them in the
  /// epoch. `steps` is as in `positionsAfter`.
  int64_t badRowsAfter(int64_t steps) const {
    return rounds > steps ? badRowsBefore : reader->badRowCount();
  }

  /// True if the pass ended early because the process was requested to stop.
  bool brokenOff = false;
  /// Number of rounds read in this pass.
  int64_t rounds = 0;
  std::vector<DataPosition> positionsBefore;
  int64_t badRowsBefore = 0;
  /// Counts of the last pass, over all processes.
  PullCounts pulls;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_ENGINE_PROGRAMRUN_H
