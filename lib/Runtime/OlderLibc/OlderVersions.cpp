//===- OlderVersions.cpp - Symbol versions that older C libraries have ----===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// glibc 2.34 moved libpthread and libdl into libc, and gave their functions a
// new symbol version. Each program that is linked there requires this version.
// Both versions are the same function. The definitions here are linked instead.
// Each jumps to the function by its older version. They are hidden: shared
// libraries still use those of the C library.
//
// A jump keeps the return address, by which dlopen and dlsym know their caller.
// Each definition is in a section of its own, so that the linker keeps only
// those that are used.
//
//===----------------------------------------------------------------------===//

// clang-format off
#define PDL_OLDER(NAME, VERSION)                                               \
  __asm__(".symver pdl_older_" #NAME ", " #NAME "@GLIBC_" #VERSION "\n"        \
          ".section .text.pdl_older_" #NAME ",\"ax\",@progbits\n"              \
          ".globl " #NAME "\n"                                                 \
          ".hidden " #NAME "\n"                                                \
          ".type " #NAME ",@function\n"                                        \
          #NAME ":\n"                                                          \
          "  jmp *pdl_older_" #NAME "@GOTPCREL(%rip)\n"                        \
          ".size " #NAME ",.-" #NAME "\n"                                      \
          ".text\n");
// clang-format on

PDL_OLDER(__pthread_key_create, 2.2.5)
PDL_OLDER(dladdr, 2.2.5)
PDL_OLDER(dladdr1, 2.3.3)
PDL_OLDER(dlclose, 2.2.5)
PDL_OLDER(dlerror, 2.2.5)
PDL_OLDER(dlinfo, 2.3.3)
PDL_OLDER(dlmopen, 2.3.4)
PDL_OLDER(dlopen, 2.2.5)
PDL_OLDER(dlsym, 2.2.5)
PDL_OLDER(dlvsym, 2.2.5)
PDL_OLDER(pthread_attr_getaffinity_np, 2.3.4)
PDL_OLDER(pthread_attr_getguardsize, 2.2.5)
PDL_OLDER(pthread_attr_getstack, 2.2.5)
PDL_OLDER(pthread_attr_getstackaddr, 2.2.5)
PDL_OLDER(pthread_attr_getstacksize, 2.2.5)
PDL_OLDER(pthread_attr_setaffinity_np, 2.3.4)
PDL_OLDER(pthread_attr_setguardsize, 2.2.5)
PDL_OLDER(pthread_attr_setstack, 2.2.5)
PDL_OLDER(pthread_attr_setstackaddr, 2.2.5)
PDL_OLDER(pthread_attr_setstacksize, 2.2.5)
PDL_OLDER(pthread_barrier_destroy, 2.2.5)
PDL_OLDER(pthread_barrier_init, 2.2.5)
PDL_OLDER(pthread_barrier_wait, 2.2.5)
PDL_OLDER(pthread_barrierattr_destroy, 2.2.5)
PDL_OLDER(pthread_barrierattr_getpshared, 2.3.3)
PDL_OLDER(pthread_barrierattr_init, 2.2.5)
PDL_OLDER(pthread_barrierattr_setpshared, 2.2.5)
PDL_OLDER(pthread_cancel, 2.2.5)
PDL_OLDER(pthread_cond_clockwait, 2.30)
PDL_OLDER(pthread_condattr_getclock, 2.3.3)
PDL_OLDER(pthread_condattr_getpshared, 2.2.5)
PDL_OLDER(pthread_condattr_setclock, 2.3.3)
PDL_OLDER(pthread_condattr_setpshared, 2.2.5)
PDL_OLDER(pthread_create, 2.2.5)
PDL_OLDER(pthread_detach, 2.2.5)
PDL_OLDER(pthread_getaffinity_np, 2.3.4)
PDL_OLDER(pthread_getattr_default_np, 2.18)
PDL_OLDER(pthread_getattr_np, 2.2.5)
PDL_OLDER(pthread_getconcurrency, 2.2.5)
PDL_OLDER(pthread_getcpuclockid, 2.2.5)
PDL_OLDER(pthread_getname_np, 2.12)
PDL_OLDER(pthread_getspecific, 2.2.5)
PDL_OLDER(pthread_join, 2.2.5)
PDL_OLDER(pthread_key_create, 2.2.5)
PDL_OLDER(pthread_key_delete, 2.2.5)
PDL_OLDER(pthread_kill, 2.2.5)
PDL_OLDER(pthread_mutex_clocklock, 2.30)
PDL_OLDER(pthread_mutex_consistent, 2.12)
PDL_OLDER(pthread_mutex_getprioceiling, 2.4)
PDL_OLDER(pthread_mutex_setprioceiling, 2.4)
PDL_OLDER(pthread_mutex_timedlock, 2.2.5)
PDL_OLDER(pthread_mutex_trylock, 2.2.5)
PDL_OLDER(pthread_mutexattr_destroy, 2.2.5)
PDL_OLDER(pthread_mutexattr_getprioceiling, 2.4)
PDL_OLDER(pthread_mutexattr_getprotocol, 2.4)
PDL_OLDER(pthread_mutexattr_getpshared, 2.2.5)
PDL_OLDER(pthread_mutexattr_getrobust, 2.12)
PDL_OLDER(pthread_mutexattr_gettype, 2.2.5)
PDL_OLDER(pthread_mutexattr_init, 2.2.5)
PDL_OLDER(pthread_mutexattr_setprioceiling, 2.4)
PDL_OLDER(pthread_mutexattr_setprotocol, 2.4)
PDL_OLDER(pthread_mutexattr_setpshared, 2.2.5)
PDL_OLDER(pthread_mutexattr_setrobust, 2.12)
PDL_OLDER(pthread_mutexattr_settype, 2.2.5)
PDL_OLDER(pthread_once, 2.2.5)
PDL_OLDER(pthread_rwlock_clockrdlock, 2.30)
PDL_OLDER(pthread_rwlock_clockwrlock, 2.30)
PDL_OLDER(pthread_rwlock_destroy, 2.2.5)
PDL_OLDER(pthread_rwlock_init, 2.2.5)
PDL_OLDER(pthread_rwlock_rdlock, 2.2.5)
PDL_OLDER(pthread_rwlock_timedrdlock, 2.2.5)
PDL_OLDER(pthread_rwlock_timedwrlock, 2.2.5)
PDL_OLDER(pthread_rwlock_tryrdlock, 2.2.5)
PDL_OLDER(pthread_rwlock_trywrlock, 2.2.5)
PDL_OLDER(pthread_rwlock_unlock, 2.2.5)
PDL_OLDER(pthread_rwlock_wrlock, 2.2.5)
PDL_OLDER(pthread_rwlockattr_destroy, 2.2.5)
PDL_OLDER(pthread_rwlockattr_getkind_np, 2.2.5)
PDL_OLDER(pthread_rwlockattr_getpshared, 2.2.5)
PDL_OLDER(pthread_rwlockattr_init, 2.2.5)
PDL_OLDER(pthread_rwlockattr_setkind_np, 2.2.5)
PDL_OLDER(pthread_rwlockattr_setpshared, 2.2.5)
PDL_OLDER(pthread_setaffinity_np, 2.3.4)
PDL_OLDER(pthread_setattr_default_np, 2.18)
PDL_OLDER(pthread_setconcurrency, 2.2.5)
PDL_OLDER(pthread_setname_np, 2.12)
PDL_OLDER(pthread_setschedprio, 2.3.4)
PDL_OLDER(pthread_setspecific, 2.2.5)
PDL_OLDER(pthread_sigmask, 2.2.5)
PDL_OLDER(pthread_sigqueue, 2.11)
PDL_OLDER(pthread_spin_destroy, 2.2.5)
PDL_OLDER(pthread_spin_init, 2.2.5)
PDL_OLDER(pthread_spin_lock, 2.2.5)
PDL_OLDER(pthread_spin_trylock, 2.2.5)
PDL_OLDER(pthread_spin_unlock, 2.2.5)
PDL_OLDER(pthread_testcancel, 2.2.5)
PDL_OLDER(pthread_timedjoin_np, 2.3.3)
PDL_OLDER(pthread_tryjoin_np, 2.3.3)
PDL_OLDER(sem_clockwait, 2.30)
PDL_OLDER(sem_close, 2.2.5)
PDL_OLDER(sem_destroy, 2.2.5)
PDL_OLDER(sem_getvalue, 2.2.5)
PDL_OLDER(sem_init, 2.2.5)
PDL_OLDER(sem_open, 2.2.5)
PDL_OLDER(sem_post, 2.2.5)
PDL_OLDER(sem_timedwait, 2.2.5)
PDL_OLDER(sem_trywait, 2.2.5)
PDL_OLDER(sem_unlink, 2.2.5)
PDL_OLDER(sem_wait, 2.2.5)
