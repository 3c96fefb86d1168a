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

/// Makes the C library keep freed memory for later messages instead of
/// returning it to the system. Page faults of new memory would otherwise
/// dominate the cost of a message of a megabyte. Called once, at the start of
/// programs that communicate. Settings from the environment
/// (MALLOC_TRIM_THRESHOLD_ and similar) are respected. The process then keeps
/// its peak memory.
void tuneAllocator();

} // namespace pdlrt

#endif // PDLRT_CORE_ALLOCATOR_H
