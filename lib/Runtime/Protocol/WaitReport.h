//===- WaitReport.h - Lines about waits for servers -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROTOCOL_WAITREPORT_H
#define LIB_RUNTIME_PROTOCOL_WAITREPORT_H

#include "pdlrt/Core/Mutex.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Returns a text without its numbers of seconds. Servers that wait for the
/// same process report it some seconds apart.
std::string withoutSeconds(const std::string &text);

/// Returns one line about a wait for several servers, given their names and the
/// reasons: "server a:1, server b:1: waiting for trainer 1 to join (5 s)".
/// Servers with the same reason are listed before one copy of it.
std::string
describeWaits(const std::vector<std::pair<std::string, std::string>> &waits);

/// Writes lines about waits once for all senders of a process, which may wait
/// for the same servers. Thread-safe.
class WaitReport {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// Drops a line if an equal one, except for seconds, was written less than
  /// `pause` before.
  WaitReport(std::function<void(const std::string &)> write,
             std::chrono::milliseconds pause)
      : write(std::move(write)), pause(pause) {}
  void report(const std::string &line, Time now);

private:
  struct Written {
    std::string text;
    Time when;
  };
  const std::function<void(const std::string &)> write;
  const std::chrono::milliseconds pause;
  Mutex mutex;
  std::vector<Written> last PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROTOCOL_WAITREPORT_H
