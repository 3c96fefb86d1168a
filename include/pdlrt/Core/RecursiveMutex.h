//===- RecursiveMutex.h - Lock that its holder may take again ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// std::recursive_mutex with the attributes of ThreadSafety.h. Use it only if a
// callback runs while the lock is held and may call the same object again;
// otherwise use Mutex.h.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_RECURSIVEMUTEX_H
#define PDLRT_CORE_RECURSIVEMUTEX_H

#include "pdlrt/Core/ThreadSafety.h"

#include <mutex>

namespace pdlrt {

/// std::recursive_mutex with attributes. Take it with a RecursiveLock.
class PDLRT_CAPABILITY("recursive mutex") RecursiveMutex {
public:
  RecursiveMutex() = default;
  RecursiveMutex(const RecursiveMutex &) = delete;
  RecursiveMutex &operator=(const RecursiveMutex &) = delete;

private:
  friend class RecursiveLock;
  std::recursive_mutex native;
};

/// Holds a recursive mutex during its lifetime.
class PDLRT_SCOPED_CAPABILITY RecursiveLock {
public:
  explicit RecursiveLock(RecursiveMutex &mutex) PDLRT_ACQUIRE(mutex)
      : held(mutex.native) {}
  ~RecursiveLock() PDLRT_RELEASE() {}
  RecursiveLock(const RecursiveLock &) = delete;
  RecursiveLock &operator=(const RecursiveLock &) = delete;

private:
  std::lock_guard<std::recursive_mutex> held;
};

} // namespace pdlrt

#endif // PDLRT_CORE_RECURSIVEMUTEX_H
