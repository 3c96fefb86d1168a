//===- Mutex.h - Locks whose use the compiler checks ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clang cannot check the use of the standard library's locks, because they have
// no attributes. These classes wrap them, with the same member functions, and
// add the attributes of ThreadSafety.h.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_MUTEX_H
#define PDLRT_CORE_MUTEX_H

#include "pdlrt/Core/ThreadSafety.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace pdlrt {

/// std::mutex with attributes.
class PDLRT_CAPABILITY("mutex") Mutex {
public:
  Mutex() = default;
  Mutex(const Mutex &) = delete;
  Mutex &operator=(const Mutex &) = delete;

  void lock() PDLRT_ACQUIRE() { native.lock(); }
  void unlock() PDLRT_RELEASE() { native.unlock(); }
  bool try_lock() PDLRT_TRY_ACQUIRE(true) { return native.try_lock(); }

private:
  friend class MutexLock;
  std::mutex native;
};

/// Holds a mutex during its lifetime, except between `unlock` and `lock`.
class PDLRT_SCOPED_CAPABILITY MutexLock {
public:
  explicit MutexLock(Mutex &mutex) PDLRT_ACQUIRE(mutex) : held(mutex.native) {}
  ~MutexLock() PDLRT_RELEASE() {}
  MutexLock(const MutexLock &) = delete;
  MutexLock &operator=(const MutexLock &) = delete;

  void lock() PDLRT_ACQUIRE() { held.lock(); }
  void unlock() PDLRT_RELEASE() { held.unlock(); }

private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> held;
};

/// std::condition_variable for a MutexLock. If a predicate reads guarded data,
/// mark it with the lock: [this]() PDLRT_REQUIRES(mutex) { return ...; }.
class ConditionVariable {
public:
  void notify_one() noexcept { native.notify_one(); }
  void notify_all() noexcept { native.notify_all(); }

  void wait(MutexLock &lock) { native.wait(lock.held); }
  template <typename Predicate>
  void wait(MutexLock &lock, Predicate predicate) {
    native.wait(lock.held, std::move(predicate));
  }
  template <typename Duration>
  std::cv_status wait_for(MutexLock &lock, const Duration &limit) {
    return native.wait_for(lock.held, limit);
  }
  template <typename Duration, typename Predicate>
  bool wait_for(MutexLock &lock, const Duration &limit, Predicate predicate) {
    return native.wait_for(lock.held, limit, std::move(predicate));
  }
  template <typename Time>
  std::cv_status wait_until(MutexLock &lock, const Time &end) {
    return native.wait_until(lock.held, end);
  }
  template <typename Time, typename Predicate>
  bool wait_until(MutexLock &lock, const Time &end, Predicate predicate) {
    return native.wait_until(lock.held, end, std::move(predicate));
  }

private:
  std::condition_variable native;
};

} // namespace pdlrt

#endif // PDLRT_CORE_MUTEX_H
