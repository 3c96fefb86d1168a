//===- StallLimit.h - Limit for work without progress -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_STALLLIMIT_H
#define LIB_RUNTIME_JOB_STALLLIMIT_H

#include "pdlrt/Core/Clock.h"

#include <cstdint>

namespace pdlrt {

/// Limits the time that work may take without progress.
class StallLimit {
public:
  StallLimit(ClockTime limit, ClockTime now) : limit(limit), lastChange(now) {}

  /// Returns true if `progress` has not changed for longer than the limit.
  bool isExceeded(uint64_t progress, ClockTime now) {
    if (progress != lastProgress) {
      lastProgress = progress;
      lastChange = now;
    }
    return now - lastChange > limit;
  }

private:
  const ClockTime limit;
  ClockTime lastChange;
  uint64_t lastProgress = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_STALLLIMIT_H
