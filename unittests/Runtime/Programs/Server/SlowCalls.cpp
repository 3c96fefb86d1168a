//===- SlowCalls.cpp - Simulates a slow disk and a wrong clock ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loaded before the C library (LD_PRELOAD). The first fsync of a process takes
// PDL_SLOW_FSYNC milliseconds longer, and the first pread PDL_SLOW_PREAD; a
// line on the error stream reports it. Each fsync takes PDL_SLOW_FSYNCS
// milliseconds longer. The time of day is PDL_CLOCK_BACK seconds slow.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <sys/types.h>
#include <thread>

static void delayOnce(std::atomic<bool> &isOver, const char *variable,
                      const char *call) {
  const char *milliseconds = std::getenv(variable);
  if (!milliseconds || isOver.exchange(true))
    return;
  std::this_thread::sleep_for(
      std::chrono::milliseconds(std::atoi(milliseconds)));
  std::fprintf(stderr, "slow %s: %s ms\n", call, milliseconds);
}

template <typename Function> static Function *next(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

extern "C" int fsync(int file) {
  static std::atomic<bool> isOver;
  delayOnce(isOver, "PDL_SLOW_FSYNC", "fsync");
  if (const char *each = std::getenv("PDL_SLOW_FSYNCS"))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(each)));
  return next<int(int)>("fsync")(file);
}

extern "C" ssize_t pread(int file, void *to, size_t size, off_t from) {
  static std::atomic<bool> isOver;
  delayOnce(isOver, "PDL_SLOW_PREAD", "pread");
  return next<ssize_t(int, void *, size_t, off_t)>("pread")(file, to, size,
                                                            from);
}

extern "C" ssize_t pread64(int file, void *to, size_t size, off_t from) {
  static std::atomic<bool> isOver;
  delayOnce(isOver, "PDL_SLOW_PREAD", "pread");
  return next<ssize_t(int, void *, size_t, off_t)>("pread64")(file, to, size,
                                                              from);
}

extern "C" int clock_gettime(clockid_t clock, timespec *time) {
  const int result =
      next<int(clockid_t, timespec *)>("clock_gettime")(clock, time);
  static const char *late = std::getenv("PDL_CLOCK_BACK");
  if (late && clock == CLOCK_REALTIME)
    time->tv_sec -= std::atoi(late);
  return result;
}
