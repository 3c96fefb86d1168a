//===- ObservedFile.h - Inputs of metrics as a file -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file has one row for each sample, in the order of the data, in one of the
// formats of predictions (Predictions.h). The first column, `row`, is the index
// of the sample in the pass; bad rows are counted, too. Further columns follow
// for each metric that the program observes: `METRIC.prediction` (or
// `METRIC.value` if the metric has no labels), `METRIC.label`, and, if there
// are weights or groups, `METRIC.weight` and `METRIC.group`. If a program
// observes a metric a second time, its columns begin with `METRIC.2`.
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

/// Returns an error if the flags do not allow an `ObservedFile`.
Status checkObservedFile(const pdl_descriptor &descriptor,
                         const SessionOptions &options);

/// Writes the inputs of a program's metrics. Not thread-safe.
class ObservedFile {
public:
  /// Both arguments must outlive this object. The path of the file is
  /// `options.output`.
  ObservedFile(const pdl_descriptor &descriptor, const SessionOptions &options)
      : descriptor(descriptor), options(options) {}

  /// Starts to record what `program` observes. Call before the first step of
  /// `engine`, which must have one replica and outlive this object. Returns an
  /// error if the flags do not allow this (`checkObservedFile`).
  Status begin(const pdl_program &program, StepEngine &engine);
  /// Writes the samples of a step. Call after each step.
  Status write(int64_t samples);
  /// Completes the file. Does nothing if no file was started.
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
