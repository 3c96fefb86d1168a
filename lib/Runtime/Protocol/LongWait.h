//===- LongWait.h - Long waits as reasons of readiness ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROTOCOL_LONGWAIT_H
#define LIB_RUNTIME_PROTOCOL_LONGWAIT_H

#include "pdlrt/Core/Readiness.h"

#include <chrono>

namespace pdlrt {

/// A wait that starts when the object is created and ends when it is destroyed.
/// A wait of some seconds is a reason why the process is not ready. Not
/// thread-safe.
class LongWait {
public:
  /// Call this several times a second during the wait. `describe` returns the
  /// text of the reason, and is called about once a second if the wait is long.
  template <typename Describe> void note(const Describe &describe) {
    const auto now = Readiness::Clock::now();
    if (now < next)
      return;
    next = now + updateInterval;
    reason.set(describe(), begin);
  }

private:
  static constexpr std::chrono::seconds updateInterval{1};

  const Readiness::Clock::time_point begin = Readiness::Clock::now();
  Readiness::Clock::time_point next = begin + Readiness::minWait;
  Readiness::Reason reason{processReadiness()};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROTOCOL_LONGWAIT_H
