//===- LossLog.h - Log of the losses of steps -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_LOSSLOG_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_LOSSLOG_H

#include "Files/LineFile.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/StepEngine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// File with the mean loss of each step, one per line (--log-losses). If the
/// file cannot be written, it is closed with a warning, and the training
/// continues. All functions do nothing if no file is open. Not thread-safe.
class LossLog {
public:
  /// Creates or truncates the file.
  Status open(const std::string &path);
  /// Opens the file at `path`, keeps its first `lines` lines, and appends to
  /// them. The training has done `steps` steps before. Warns if the file has
  /// fewer lines, but not if it has none.
  Status resume(const std::string &path, int64_t lines, int64_t steps);
  /// Returns the number of lines; nothing if no file is open.
  std::optional<int64_t> lines() const;
  void add(const StepResult &result);
  /// Flushes the lines, so that they survive if the process is killed.
  void flush();
  /// Flushes the lines. Does not warn about an error: the next `add` or `close`
  /// reports it.
  void flushQuietly();
  void close();

private:
  void note(const Status &status);

  LineFile file;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_LOSSLOG_H
