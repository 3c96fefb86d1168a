//===- ThreadSafety.h - Attributes of locks and their data ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Macros for Clang's thread-safety attributes. Clang then checks that data is
// accessed only while its lock is held; a violation is an error. Other
// compilers ignore the attributes. Locks with attributes: Mutex.h.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_THREADSAFETY_H
#define PDLRT_CORE_THREADSAFETY_H

#ifdef __clang__
// Every file that declares a lock and its data includes this header. So the
// check is on in all of these files, whatever the compiler flags are.
#pragma clang diagnostic error "-Wthread-safety"
#define PDLRT_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define PDLRT_THREAD_ATTRIBUTE(attribute)
#endif

/// Marks a class as a lock; `kind` is its name in warnings.
#define PDLRT_CAPABILITY(kind) PDLRT_THREAD_ATTRIBUTE(capability(kind))
/// Marks a class whose objects hold a lock from constructor to destructor.
#define PDLRT_SCOPED_CAPABILITY PDLRT_THREAD_ATTRIBUTE(scoped_lockable)

/// The variable is accessed only while `lock` is held.
#define PDLRT_GUARDED_BY(lock) PDLRT_THREAD_ATTRIBUTE(guarded_by(lock))
/// The object at the address is accessed only while `lock` is held.
#define PDLRT_PT_GUARDED_BY(lock) PDLRT_THREAD_ATTRIBUTE(pt_guarded_by(lock))
/// This lock is taken before the given ones if both are needed.
#define PDLRT_ACQUIRED_BEFORE(...)                                             \
  PDLRT_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))

/// The caller of the function must hold the locks; the function does not
/// release them.
#define PDLRT_REQUIRES(...)                                                    \
  PDLRT_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define PDLRT_REQUIRES_SHARED(...)                                             \
  PDLRT_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
/// The caller of the function must not hold the locks.
#define PDLRT_EXCLUDES(...) PDLRT_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

/// The function takes or releases the locks in the arguments; without an
/// argument, its own object, which is a lock.
#define PDLRT_ACQUIRE(...)                                                     \
  PDLRT_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define PDLRT_ACQUIRE_SHARED(...)                                              \
  PDLRT_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define PDLRT_RELEASE(...)                                                     \
  PDLRT_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define PDLRT_RELEASE_SHARED(...)                                              \
  PDLRT_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
/// The function takes the locks if it returns the first argument.
#define PDLRT_TRY_ACQUIRE(...)                                                 \
  PDLRT_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
/// The function returns a reference to the lock.
#define PDLRT_RETURN_CAPABILITY(lock)                                          \
  PDLRT_THREAD_ATTRIBUTE(lock_returned(lock))

/// Exempts a function from the check. Always give the reason in a comment.
#define PDLRT_NO_THREAD_SAFETY_ANALYSIS                                        \
  PDLRT_THREAD_ATTRIBUTE(no_thread_safety_analysis)

#endif // PDLRT_CORE_THREADSAFETY_H
