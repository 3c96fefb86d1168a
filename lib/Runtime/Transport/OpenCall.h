//===- OpenCall.h - An open call --------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_OPENCALL_H
#define LIB_RUNTIME_TRANSPORT_OPENCALL_H

#include "pdlrt/Core/RecursiveMutex.h"
#include "pdlrt/Transport/Transport.h"

#include <utility>

namespace pdlrt {

/// An open call. Thread-safe.
class OpenCall {
public:
  explicit OpenCall(CallDone onEnd) : done(std::move(onEnd)) {}

  /// Ends the call: runs `done` with `result`. A second call does nothing, and
  /// waits until `done` has returned, unless it is made within `done`.
  void end(CallResult result) {
    const RecursiveLock lock(mutex);
    if (CallDone action = std::exchange(done, nullptr))
      action(std::move(result));
  }

private:
  // Recursive, because `done` may destroy the connection, which ends its calls.
  RecursiveMutex mutex;
  CallDone done PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TRANSPORT_OPENCALL_H
