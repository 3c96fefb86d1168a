//===- RandomNumber.h - Numbers that nobody else draws ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_RANDOMNUMBER_H
#define PDLRT_CORE_RANDOMNUMBER_H

#include <cstdint>
#include <random>

namespace pdlrt {

/// 64 bits from the system, to tell processes, jobs and files apart, on all
/// hosts. Never part of what a training computes. Thread-safe.
inline uint64_t drawNumber() {
  std::random_device random;
  return uint64_t(random()) << 32 | random();
}

} // namespace pdlrt

#endif // PDLRT_CORE_RANDOMNUMBER_H
