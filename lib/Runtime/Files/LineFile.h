//===- LineFile.h - A text file, line by line -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_LINEFILE_H
#define LIB_RUNTIME_FILES_LINEFILE_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <cstdio>
#include <string>

namespace pdlrt {

/// A text file that is written line by line; closed with its owner. Errors name
/// the file. Not thread-safe.
class LineFile {
public:
  LineFile() = default;
  LineFile(const LineFile &) = delete;
  LineFile &operator=(const LineFile &) = delete;
  ~LineFile();

  /// Creates or empties the file at `newPath`.
  Status open(const std::string &newPath);
  /// Opens the file at `newPath`, which is created where there is none, to go
  /// on behind its first `lines` lines; what stands behind them is cut off. How
  /// many whole lines it keeps. What is no regular file keeps all that it has,
  /// which is said to be `lines`.
  Expected<int64_t> openBehind(const std::string &newPath, int64_t lines);
  bool isOpen() const { return file != nullptr; }
  /// Those that were kept, and those that were written since.
  int64_t lines() const { return lineCount; }
  /// Writes `line` and a line's end.
  Status write(const std::string &line);
  /// What was written is in the file, should the process be killed. Does
  /// nothing where none is open.
  Status flush();
  /// Does nothing where none is open. An error of an earlier call comes again:
  /// what it did not write is lost.
  Status close();

private:
  Status check(bool good);

  std::FILE *file = nullptr;
  std::string path;
  /// The first error.
  Status failure;
  int64_t lineCount = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_LINEFILE_H
