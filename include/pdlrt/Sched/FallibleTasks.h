//===- FallibleRanges.h - Ranges that may be out of memory ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_FALLIBLERANGES_H
#define LIB_RUNTIME_TABLE_FALLIBLERANGES_H

#include "pdlrt/Sched/Scheduler.h"

#include <atomic>
#include <cstdint>
#include <new>

namespace pdlrt {

/// As `parallelRanges`, for a body that may throw std::bad_alloc: so does the
/// call, when all ranges have ended.
template <typename Body>
void fallibleRanges(int64_t count, double bytes, Body &&body) {
  std::atomic<bool> isOutOfMemory{false};
  parallelRanges(count, bytes, [&](int64_t begin, int64_t end) {
    try {
      body(begin, end);
    } catch (const std::bad_alloc &) {
      isOutOfMemory = true;
    }
  });
  if (isOutOfMemory)
    throw std::bad_alloc();
}

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_FALLIBLERANGES_H
