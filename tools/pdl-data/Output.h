//===- Output.h - Writes the result of a command ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_OUTPUT_H
#define PDL_TOOLS_PDL_DATA_OUTPUT_H

#include "Files/TemporaryFile.h"
#include "pdlrt/Core/Status.h"

#include <optional>
#include <string>
#include <string_view>

/// The output of a command: a file, which gets its name when it is complete, or
/// the standard output. Writes are buffered. Not thread-safe.
class Output {
public:
  /// `path`: empty or `-` for the standard output.
  explicit Output(std::string path) : path(std::move(path)) {}

  /// Creates the file. Returns an error if it must not be replaced.
  pdlrt::Status open();
  pdlrt::Status write(std::string_view bytes) {
    buffer += bytes;
    return buffer.size() < bufferSize ? pdlrt::Status() : flush();
  }
  /// Completes the output.
  pdlrt::Status commit();
  bool isStandard() const { return path.empty() || path == "-"; }

private:
  static constexpr size_t bufferSize = size_t(1) << 18;
  pdlrt::Status flush();

  std::string path, buffer;
  std::optional<pdlrt::TemporaryFile> file;
};

/// Writes `text` as the output of a command. Returns the exit status.
int writeOutput(const std::string &path, const std::string &text);

#endif // PDL_TOOLS_PDL_DATA_OUTPUT_H
