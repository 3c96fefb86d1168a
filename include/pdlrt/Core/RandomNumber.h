//===- RandomNumber.h - Unique random numbers -------------------*- C++ -*-===//
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

/// Returns 64 random bits from the system, for numbers that identify processes,
/// jobs and files uniquely among all hosts. Training never uses them for its
/// computations, which must be reproducible. Thread-safe.
inline uint64_t drawNumber() {
  std::random_device random;
  return uint64_t(random()) << 32 | random();
}

} // namespace pdlrt

#endif // PDLRT_CORE_RANDOMNUMBER_H
