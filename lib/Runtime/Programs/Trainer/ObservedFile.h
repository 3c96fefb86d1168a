//===- ObservedFile.h - Inputs of metrics as a file -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row for each sample, in the order of the data, in the formats of
// predictions (Predictions.h). The first column, `row`, is the index of the
// sample in the pass, including bad rows. Then follow, for each metric that the
// program observes, `METRIC.prediction` (or `METRIC.value` for one without
// labels), `METRIC.label`, and, if it has them, `METRIC.weight` and
// `METRIC.group`. A second observation of the same metric is called `METRIC.2`.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_OBSERVEDFILE_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_OBSERVEDFILE_H

#include "pdlabi/abi/descriptor.h"
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

/// Returns an error if flags do not fit `ObservedFile`, of these options.
Status checkObservedFile(const pdl_descriptor &descriptor,
                         const SessionOptions &options);

/// Writes the inputs of a program's metrics. Not thread-safe.
class ObservedFile {
public:
  /// Both must outlive the file, whose path is `options.output`.
  ObservedFile(const pdl_descriptor &descriptor, const SessionOptions &options)
      : descriptor(descriptor), options(options) {}

  /// Starts recording. Call before the first step of the engine, which must
  /// have one replica and outlive the file. Returns an error if there is
  /// nothing to record, or if it cannot be recorded here.
  Status begin(const pdl_program &program, StepEngine &engine);
  /// Writes the samples of a step. Call after each step.
  Status write(int64_t samples);
  /// Completes the file. Does nothing if none was started.
  Status finish();

private:
  std::string nameOf(const double *sums) const;
  void addColumn(const std::string &name, int32_t type, int64_t width);
  Status open();

  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  const pdl_program *program = nullptr;
  Replica *replica = nullptr;
  /// Program whose outputs are the columns. Their names are stored in `names`.
  pdl_program shown = {};
  std::deque<std::string> names;
  std::vector<pdl_output> columns;
  std::unique_ptr<PredictionWriter> writer;
  std::vector<int64_t> rows;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_OBSERVEDFILE_H
