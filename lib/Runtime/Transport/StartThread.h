//===- StartThread.h - Threads of transports --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_STARTTHREAD_H
#define LIB_RUNTIME_TRANSPORT_STARTTHREAD_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"

#include <functional>
#include <optional>
#include <thread>

namespace pdlrt {

/// Starts `thread`, which runs `body` with all signals blocked. `name`: name of
/// the thread in error messages. If the system cannot start a thread, returns
/// an OutOfMemory error that names the limit to raise.
Status startThread(std::thread &thread, const char *name,
                   std::function<void()> body);

/// Starts the threads of a transport with its first connection. Thread-safe.
class FirstStart {
public:
  /// Calls `start` on the first call only. Returns the status of that call on
  /// each call.
  template <typename Start> Status once(const Start &start) {
    const MutexLock lock(mutex);
    if (!result)
      result = start();
    return *result;
  }

private:
  Mutex mutex;
  std::optional<Status> result PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TRANSPORT_STARTTHREAD_H
