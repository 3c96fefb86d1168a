//===- LineFile.h - Text files, written line by line ------------*- C++ -*-===//
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

/// A text file that is written line by line. The destructor closes it. Errors
/// name the file. Not thread-safe.
class LineFile {
public:
  LineFile() = default;
  LineFile(const LineFile &) = delete;
  LineFile &operator=(const LineFile &) = delete;
  ~LineFile();

  /// Creates or truncates the file at `newPath`.
  Status open(const std::string &newPath);
  /// Opens the file at `newPath`, or creates it, keeps its first `lines` lines
  /// and removes the rest. New lines are appended. Returns the number of
  /// complete lines that were kept. If the file is not regular, changes nothing
  /// and returns `lines`.
  Expected<int64_t> openAfter(const std::string &newPath, int64_t lines);
  bool isOpen() const { return file != nullptr; }
  /// Returns the number of lines that were kept or written.
  int64_t lines() const { return lineCount; }
  /// Writes `line` and a line break.
  Status write(const std::string &line);
  /// Passes all written lines to the operating system, so that they survive if
  /// the process is killed. Does nothing if no file is open.
  Status flush();
  /// Closes the file. Does nothing if no file is open. If an earlier call has
  /// failed, returns its error again, because the data of that call is lost.
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
