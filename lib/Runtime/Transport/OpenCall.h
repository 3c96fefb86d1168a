//===- OpenCall.h - A call until its end ------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_OPENCALL_H
#define LIB_RUNTIME_TRANSPORT_OPENCALL_H

#include "pdlrt/Transport/Transport.h"

#include <mutex>
#include <utility>

namespace pdlrt {

/// One call, until its end. Thread-safe.
class OpenCall {
public:
  explicit OpenCall(CallDone onEnd) : done(std::move(onEnd)) {}

  /// Ends the call; later ends are ignored. Returns when `done` has run,
  /// unless it is `done` itself that calls.
  void end(CallResult result) {
    const std::lock_guard lock(mutex);
    if (CallDone action = std::exchange(done, nullptr))
      action(std::move(result));
  }

private:
  // Recursive: `done` may destroy the connection, which ends its calls.
  std::recursive_mutex mutex;
  CallDone done;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TRANSPORT_OPENCALL_H
