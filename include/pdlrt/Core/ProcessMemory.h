//===- ProcessMemory.h - Memory of this process -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PROCESSMEMORY_H
#define PDLRT_CORE_PROCESSMEMORY_H

#include <cstdint>

namespace pdlrt {

/// Returns the resident memory of this process in bytes; 0 if the system does
/// not report it. Thread-safe.
int64_t residentBytes();

} // namespace pdlrt

#endif // PDLRT_CORE_PROCESSMEMORY_H
