//===- SessionMetrics.h - Registered metrics of sessions --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROTOCOL_SESSIONMETRICS_H
#define LIB_RUNTIME_PROTOCOL_SESSIONMETRICS_H

#include "pdlrt/Core/MetricRegistry.h"

#include <string>

namespace pdlrt {

/// Counters of a session with one owner of state. They are metrics of the
/// process.
struct SessionMetrics {
  explicit SessionMetrics(const std::string &owner);

  Counter retries, missedHeartbeats;
};

/// Declares the metrics of sessions, so that they are exported even if there is
/// no session.
void declareSessionMetrics();

} // namespace pdlrt

#endif // LIB_RUNTIME_PROTOCOL_SESSIONMETRICS_H
