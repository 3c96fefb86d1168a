//===- Predictions.h - Outputs of a program as a file -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text formats have a line of column names (`p`, or `p.0`, `p.1` for an output
// with several columns), then one line per row. Numbers have enough digits to
// be read back exactly. Columns copied from the data come first.
//
// - tsv: columns are separated by tabs. In copied columns, tabs and line breaks
//   are replaced by blanks.
// - csv: columns are separated by commas. Names and cells are quoted as in RFC
//   4180 if they contain a comma, a quote or a line break, or start or end with
//   a blank.
//
// safetensors files have a tensor [rows, columns] for each output, with its
// element type. Each copied column has `<name>.values`, U8 [bytes], and
// `<name>.splits`, I64 [rows + 1]: row i has the bytes [splits[i], splits[i +
// 1]).
//
// A row that could not be read has nan for each number, or -1 for each integer.
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

/// Returns the format that `options` select, by name or by the extension of the
/// file.
PredictionFormat formatOf(const SessionOptions &options);

/// Writes the outputs of a program row by row. Not thread-safe.
class PredictionWriter {
public:
  /// Opens `path` for writing. An empty path or `-` is the standard output,
  /// only for text. `copied` has the names of copied columns. The names and
  /// outputs of `program` are read; it must outlive the writer.
  static Expected<std::unique_ptr<PredictionWriter>>
  open(PredictionFormat format, const std::string &path,
       const pdl_program &program, const std::vector<std::string> &copied);
  virtual ~PredictionWriter();

  /// Writes one sample of a batch. `outputs` has, for each output of the
  /// program, all rows of the batch. `copiedCells` has the format of
  /// `Batch::copiedCell`.
  virtual Status write(const void *const *outputs, int64_t sample,
                       std::string_view copiedCells) = 0;
  /// Writes a row for input that could not be read.
  virtual Status writeBadRow(std::string_view copiedCells) = 0;
  /// Makes everything written so far visible to readers, unless the file
  /// appears only when it is complete.
  virtual Status flush() = 0;
  /// Completes the output and gives the file its name; nothing may be written
  /// afterwards. If `finish` is not called, an existing file stays unchanged.
  virtual Status finish() = 0;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H
