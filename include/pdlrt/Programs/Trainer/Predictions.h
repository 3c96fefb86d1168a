//===- Predictions.h - Outputs of a program as a file -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first line of text formats has the names of columns. An output `p` has
// the column `p`, or `p.0`, `p.1` and so on if it has several elements per
// sample. Then one line per row of the data follows. Numbers have enough digits
// to be read back exactly. Columns that are copied from the data come first.
//
// - tsv: columns are separated by tabs. In copied columns, tabs and line breaks
//   are replaced by blanks.
// - csv: columns are separated by commas. Names and cells are quoted as in RFC
//   4180 if they contain a comma, a quote or a line break, or start or end with
//   a blank.
//
// Safetensors files have a tensor [rows, columns] for each output, with the
// output's element type. For each copied column they have the tensors
// `<name>.values`, U8 [bytes], and `<name>.splits`, I64 [rows + 1]. The text of
// row i is the bytes [splits[i], splits[i + 1]).
//
// A row of the data that could not be read has nan for each floating-point
// number, and -1 for each integer.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H
#define PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Returns the format that `options` select: `outputFormat`, or the format that
/// the extension of `output` means.
PredictionFormat formatOf(const SessionOptions &options);

/// Writes the outputs of a program row by row. Not thread-safe.
class PredictionWriter {
public:
  /// Opens `path` for writing. An empty path or `-` is the standard output,
  /// which is only allowed for text formats. `copied` has the names of copied
  /// columns. `program` defines the outputs, and must outlive the writer.
  static Expected<std::unique_ptr<PredictionWriter>>
  open(PredictionFormat format, const std::string &path,
       const pdl_program &program, const std::vector<std::string> &copied);
  virtual ~PredictionWriter();

  /// Writes sample `sample` of a batch. `outputs` has, for each output of the
  /// program, the values of all samples of the batch. `copiedCells` has the
  /// format of `Batch::copiedCell`.
  virtual Status write(const void *const *outputs, int64_t sample,
                       std::string_view copiedCells) = 0;
  /// Writes the row for a row of the data that could not be read.
  virtual Status writeBadRow(std::string_view copiedCells) = 0;
  /// Makes everything that was written so far visible to readers. Has no effect
  /// if the file gets its name only when it is complete.
  virtual Status flush() = 0;
  /// Completes the output and gives the file its name. Must be the last call.
  /// Without it, an existing file at `path` stays unchanged.
  virtual Status finish() = 0;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H
