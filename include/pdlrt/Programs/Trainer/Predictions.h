//===- Predictions.h - Outputs of a program as text -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H
#define PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/BatchContext.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace pdlrt {

/// Writes tab-separated text: a line of names (`p`, or `p.0`, `p.1` for an
/// output of several columns), then one line for each row, numbers with as many
/// digits as reading them back exactly needs. A column that is let through
/// stands before them; blanks stand for tabs and line breaks in it. Not
/// thread-safe.
class PredictionWriter {
public:
  /// Opens `path`; an empty path, or `-`, is the standard output. `copied`
  /// names the column that is let through; empty: none. `program` outlives the
  /// writer.
  static Expected<PredictionWriter> open(const std::string &path,
                                         const pdl_program &program,
                                         const std::string &copied);
  PredictionWriter(PredictionWriter &&other) noexcept;
  PredictionWriter &operator=(PredictionWriter &&) = delete;
  ~PredictionWriter();

  /// Writes the outputs of a sample.
  Status write(const BatchContext &batch, int64_t sample,
               std::string_view copiedCell);
  /// Keeps the place of a row that could not be read: its outputs are nan.
  Status writeBadRow(std::string_view copiedCell);
  /// Flushes, and gives the file its name; after it nothing may be written.
  /// Without it a file that was there stays as it was.
  Status finish();

private:
  PredictionWriter(std::FILE *file, std::string path, std::string temporaryPath,
                   const pdl_program &program, bool hasCopied);
  Status check(bool good) const;
  void beginLine(std::string_view copiedCell);
  void beginCell();
  Status endLine();

  std::FILE *file;
  std::string path;
  /// The file under its temporary name; empty where it needs none, as a pipe.
  std::string temporaryPath;
  const pdl_program &program;
  bool hasCopied, isFirstCell = true;
  std::string line;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H
