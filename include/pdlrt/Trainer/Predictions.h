//===- Predictions.h - Outputs of a program as text -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRAINER_PREDICTIONS_H
#define PDLRT_TRAINER_PREDICTIONS_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Trainer/BatchContext.h"

#include <cstdint>
#include <cstdio>
#include <string>

namespace pdlrt {

/// Writes tab-separated text: a line of names (`p`, or `p.0`, `p.1` for an
/// output of several columns), then one line for each sample, numbers with as
/// many digits as reading them back exactly needs. Not thread-safe.
class PredictionWriter {
public:
  /// Opens `path`; an empty path is the standard output. `program` outlives the
  /// writer.
  static Expected<PredictionWriter> open(const std::string &path,
                                         const pdl_program &program);
  PredictionWriter(PredictionWriter &&other) noexcept;
  PredictionWriter &operator=(PredictionWriter &&) = delete;
  ~PredictionWriter();

  /// Writes the outputs of `samples` samples.
  Status write(const BatchContext &batch, int64_t samples);
  /// Flushes; after it nothing may be written.
  Status finish();

private:
  PredictionWriter(std::FILE *file, std::string path,
                   const pdl_program &program);
  Status check(bool good) const;

  std::FILE *file;
  std::string path;
  const pdl_program &program;
  std::string line;
};

} // namespace pdlrt

#endif // PDLRT_TRAINER_PREDICTIONS_H
