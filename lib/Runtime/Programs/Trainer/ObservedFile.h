//===- ObservedFile.h - What metrics observe as a file ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row for each sample, in the order of the data, in the formats of
// predictions (Predictions.h). The first column, `row`, is where the sample
// stands in the pass, bad rows counted. Then come, of each metric that the
// program observes, `METRIC.prediction`, or `METRIC.value` of one without
// labels, `METRIC.label`, and, where it has them, `METRIC.weight` and
// `METRIC.group`. What a program observes a second time is of `METRIC.2`.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_OBSERVEDFILE_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_OBSERVEDFILE_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Programs/Trainer/Predictions.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// Writes what the metrics of a program observe. Not thread-safe.
class ObservedFile {
public:
  /// Both outlive the file. `options.output` is written.
  ObservedFile(const pdl_descriptor &descriptor, const SessionOptions &options)
      : descriptor(descriptor), options(options) {}

  /// Before the first step of the engine, which has one replica and outlives
  /// the file. An error where there is nothing to see, or not here.
  Status begin(const pdl_program &program, StepEngine &engine);
  /// Behind a step of so many samples.
  Status write(int64_t samples);
  /// Gives the file its name; nothing where none was begun.
  Status finish();

private:
  std::string nameOf(const double *sums) const;
  void addColumn(const std::string &name, int32_t type, int64_t width);
  Status open();

  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  const pdl_program *program = nullptr;
  Replica *replica = nullptr;
  /// A program whose outputs are the columns, which have their names here.
  pdl_program shown = {};
  std::deque<std::string> names;
  std::vector<pdl_output> columns;
  std::unique_ptr<PredictionWriter> writer;
  std::vector<int64_t> rows;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_OBSERVEDFILE_H
