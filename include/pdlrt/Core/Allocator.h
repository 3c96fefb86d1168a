//===- Allocator.h - Memory for large messages ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_ALLOCATOR_H
#define PDLRT_CORE_ALLOCATOR_H

namespace pdlrt {

/// Makes malloc of the C library keep freed memory, so that later messages
/// reuse it. Otherwise page faults of new memory would dominate the cost of a
/// message of a megabyte. As a consequence, the process keeps its peak memory.
/// Settings from the environment (MALLOC_TRIM_THRESHOLD_ and similar) have
/// priority. Call once, at the start of a program that communicates.
void tuneAllocator();

} // namespace pdlrt

#endif // PDLRT_CORE_ALLOCATOR_H
