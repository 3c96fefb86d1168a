//===- CpuCheck.h - Does this CPU run the program? --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime needs an x86-64-v3 CPU, and a compiled program needs the CPU
// features in its descriptor. The check must run on any CPU. So it is compiled
// for the oldest x86-64 CPU, uses no library code that other objects
// instantiate, and runs before all other constructors.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_CPUCHECK_H
#define PDLRT_CORE_CPUCHECK_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/cpu.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Results of the instructions `cpuid` and `xgetbv`, from which `hasCpuFeature`
/// finds the features in `pdlabi::cpuFeatures`.
struct CpuFacts {
  uint32_t words[size_t(pdlabi::CpuidWord::Count)] = {};
  /// Register XCR0: the registers that the operating system saves. 0 if it
  /// cannot be read.
  uint64_t xcr0 = 0;
  /// The environment variable `cpuLimitVariable` names no level.
  bool isLimitUnknown = false;
};

/// Environment variable that restricts programs and libraries to the features
/// of a CPU level: `x86-64-v3` or `x86-64-v4`.
inline constexpr const char *cpuLimitVariable = "PDL_CPU_LIMIT";

/// Returns the facts of the CPU that runs the caller, without the features that
/// `cpuLimitVariable` forbids. Reads them once for each process. Thread-safe.
CpuFacts readCpuFacts();

/// Removes the features that the CPU level named `limit` does not have. If
/// there is no such level, sets `isLimitUnknown`.
void limitCpuFacts(CpuFacts &facts, const char *limit);

/// Returns true if `cpuLimitVariable` is set. AMX, which `readCpuFacts` does
/// not report, is then forbidden, too.
bool isCpuLimited();

/// Returns true if the CPU has a feature and the operating system saves the
/// registers that the feature needs.
bool hasCpuFeature(const CpuFacts &facts, const pdlabi::CpuFeature &feature);

/// The same for the CPU that runs the caller, and a feature of
/// `pdlabi::cpuFeatures` by its name. Thread-safe.
bool hasCpuFeature(const char *name);

/// Writes a message about missing features to the buffer `message` of `size`
/// bytes. Truncates the message if it is too long. Writes an empty message if
/// no feature is missing. If `program` is null, checks only the features that
/// the runtime needs.
void describeMissingCpuFeatures(const CpuFacts &facts,
                                const pdl_descriptor *program, char *message,
                                size_t size);

/// If a feature is missing, prints the message of `describeMissingCpuFeatures`
/// to the standard error and ends the process with status 1.
void requireSupportedCpu(const pdl_descriptor *program);

} // namespace pdlrt

#endif // PDLRT_CORE_CPUCHECK_H
