//===- CpuCheck.h - Does this CPU run the program? --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime and every compiled program need at least an x86-64-v3 CPU. The
// check itself is compiled for the oldest x86-64 CPU, uses no library code that
// other objects instantiate, and runs before any other constructor.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_CPUCHECK_H
#define PDLRT_CORE_CPUCHECK_H

#include <cstdint>

namespace pdlrt {

/// What `cpuid` and `xgetbv` say, as far as x86-64-v3 is concerned.
struct CpuFacts {
  /// Leaf 1, register ecx.
  uint32_t leaf1Ecx = 0;
  /// Leaf 7, subleaf 0, register ebx.
  uint32_t leaf7Ebx = 0;
  /// Leaf 0x80000001, register ecx.
  uint32_t extendedEcx = 0;
  /// The operating system's XCR0, 0 if it cannot be read.
  uint64_t xcr0 = 0;
};

/// Asks the CPU that runs the caller.
CpuFacts readCpuFacts();

/// The name of the first feature of x86-64-v3 that is missing, such as "avx2";
/// null if none is.
const char *missingCpuFeature(const CpuFacts &facts);

/// Ends the process with status 1 and one sentence on the error stream if the
/// CPU misses a feature of x86-64-v3.
void requireSupportedCpu();

} // namespace pdlrt

#endif // PDLRT_CORE_CPUCHECK_H
