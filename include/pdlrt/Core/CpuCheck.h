//===- CpuCheck.h - Does this CPU run the program? --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime needs an x86-64-v3 CPU, and a compiled program the CPU features
// in its descriptor. The check itself is compiled for the oldest x86-64 CPU,
// uses no library code that other objects instantiate, and runs before all
// other constructors.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_CPUCHECK_H
#define PDLRT_CORE_CPUCHECK_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/cpu.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Results of `cpuid` and `xgetbv` that `pdlabi::cpuFeatures` refers to.
struct CpuFacts {
  uint32_t words[size_t(pdlabi::CpuidWord::Count)] = {};
  /// The operating system's XCR0, 0 if it cannot be read.
  uint64_t xcr0 = 0;
};

/// Reads them from the CPU that runs the caller.
CpuFacts readCpuFacts();

/// Returns true if the CPU has a feature and the operating system saves its
/// registers.
bool hasCpuFeature(const CpuFacts &facts, const pdlabi::CpuFeature &feature);

/// Writes a message about missing features to a buffer of `size` bytes,
/// truncated if it is too long; an empty message if nothing is missing. If
/// `program` is null, checks only what the runtime needs.
void describeMissingCpuFeatures(const CpuFacts &facts,
                                const pdl_descriptor *program, char *sentence,
                                size_t size);

/// Ends the process with status 1 and this message on the error stream if
/// something is missing.
void requireSupportedCpu(const pdl_descriptor *program);

} // namespace pdlrt

#endif // PDLRT_CORE_CPUCHECK_H
