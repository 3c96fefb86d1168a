//===- SharedMutex.h - Locks of readers and writers -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// std::shared_mutex and its locks with the attributes of ThreadSafety.h. Use
// them only if reads are frequent and long; otherwise Mutex.h is faster.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_SHAREDMUTEX_H
#define PDLRT_CORE_SHAREDMUTEX_H

#include "pdlrt/Core/ThreadSafety.h"

#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace pdlrt {

/// std::shared_mutex with attributes. Take it with a WriteLock or a ReadLock.
class PDLRT_CAPABILITY("shared mutex") SharedMutex {
public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex &) = delete;
  SharedMutex &operator=(const SharedMutex &) = delete;

private:
  friend class WriteLock;
  friend class ReadLock;
  std::shared_mutex native;
};

/// Holds a shared mutex during its lifetime, alone.
class PDLRT_SCOPED_CAPABILITY WriteLock {
public:
  explicit WriteLock(SharedMutex &mutex) PDLRT_ACQUIRE(mutex)
      : held(mutex.native) {}
  ~WriteLock() PDLRT_RELEASE() {}
  WriteLock(const WriteLock &) = delete;
  WriteLock &operator=(const WriteLock &) = delete;

private:
  friend class SharedConditionVariable;
  std::unique_lock<std::shared_mutex> held;
};

/// Holds a shared mutex during its lifetime, together with other ReadLocks.
class PDLRT_SCOPED_CAPABILITY ReadLock {
public:
  explicit ReadLock(SharedMutex &mutex) PDLRT_ACQUIRE_SHARED(mutex)
      : held(mutex.native) {}
  ~ReadLock() PDLRT_RELEASE() {}
  ReadLock(const ReadLock &) = delete;
  ReadLock &operator=(const ReadLock &) = delete;

private:
  friend class SharedConditionVariable;
  std::shared_lock<std::shared_mutex> held;
};

/// std::condition_variable_any for a WriteLock or a ReadLock. If a predicate
/// reads guarded data, mark it with the lock, as for ConditionVariable.
class SharedConditionVariable {
public:
  void notify_one() noexcept { native.notify_one(); }
  void notify_all() noexcept { native.notify_all(); }

  template <typename Lock> void wait(Lock &lock) { native.wait(lock.held); }
  template <typename Lock, typename Predicate>
  void wait(Lock &lock, Predicate predicate) {
    native.wait(lock.held, std::move(predicate));
  }

private:
  std::condition_variable_any native;
};

} // namespace pdlrt

#endif // PDLRT_CORE_SHAREDMUTEX_H
