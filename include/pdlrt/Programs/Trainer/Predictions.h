//===- Predictions.h - Outputs of a program as a file -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text is a line of names (`p`, or `p.0`, `p.1` for an output of several
// columns), then one line for each row, numbers with as many digits as reading
// them back exactly needs. A column that is let through stands before them.
//
//  - tsv: tabs between columns; blanks stand for tabs and line breaks in the
//    column that is let through.
//  - csv: commas between them; names and cells with a comma, a quote or a line
//    break, or blanks at an end, are quoted as in RFC 4180.
//
// safetensors have a tensor for each output, [rows, columns] of its element
// type; of what is let through, `<name>.values`, U8 [bytes], and
// `<name>.splits`, I64 [rows + 1]: row i has bytes [splits[i], splits[i + 1]).
//
// A row that could not be read has nan for each number, and -1 where that is an
// integer.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H
#define PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

enum class PredictionFormat { Tsv, Csv, Safetensors };

/// What `options` ask for, by name or by the end of the file's.
PredictionFormat formatOf(const SessionOptions &options);

/// Writes the outputs of a program, row by row. Not thread-safe.
class PredictionWriter {
public:
  /// Opens `path`; an empty path, or `-`, is the standard output, which is for
  /// text. `copied` names the columns that are let through. Of `program`, which
  /// outlives the writer, the name and the outputs are read.
  static Expected<std::unique_ptr<PredictionWriter>>
  open(PredictionFormat format, const std::string &path,
       const pdl_program &program, const std::vector<std::string> &copied);
  virtual ~PredictionWriter();

  /// Writes a sample of a batch. `outputs`: by output of the program, all rows
  /// of the batch. `copiedCells`: as `Batch::copiedCell`.
  virtual Status write(const void *const *outputs, int64_t sample,
                       std::string_view copiedCells) = 0;
  /// Keeps the place of a row that could not be read.
  virtual Status writeBadRow(std::string_view copiedCells) = 0;
  /// Lets who reads the output have what was written so far, where it is not a
  /// file that appears whole.
  virtual Status flush() = 0;
  /// Ends the output, and gives the file its name; after it nothing may be
  /// written. Without it a file that was there stays as it was.
  virtual Status finish() = 0;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_PREDICTIONS_H
