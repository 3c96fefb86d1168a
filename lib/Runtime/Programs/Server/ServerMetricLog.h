//===- ServerMetricLog.h - Metrics of a server over time --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_SERVER_SERVERMETRICLOG_H
#define LIB_RUNTIME_PROGRAMS_SERVER_SERVERMETRICLOG_H

#include "Files/LineFile.h"
#include "pdlrt/Core/Status.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace pdlrt {

/// File with metrics of a server over time, one JSON object per line
/// (--log-metrics; docs/Reference/Summary.md). If the file cannot be written,
/// it is closed with a warning, and the server continues. All functions but
/// `open` do nothing if no file is open. Not thread-safe.
class ServerMetricLog {
public:
  /// Opens the file. If `appends`, keeps its complete lines; otherwise
  /// truncates it. `seconds`: interval of lines. `rank`: rank of the server.
  Status open(const std::string &path, bool appends, double seconds,
              int64_t rank);
  bool isOpen() const { return file.isOpen(); }
  /// Writes a line if the interval has passed. Call this several times a
  /// second.
  void update();
  /// Writes the last line and closes the file.
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  void writeLine();
  void note(const Status &status);

  LineFile file;
  Clock::duration interval{};
  Clock::time_point next;
  int64_t rank = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_SERVER_SERVERMETRICLOG_H
