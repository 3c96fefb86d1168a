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

/// Tells the C library to keep freed memory for the next message instead of
/// giving it back to the system, whose page faults cost more than all else that
/// happens to a message of a megabyte. Called once, at a program's start, by
/// programs that talk to others. What the environment sets
/// (MALLOC_TRIM_THRESHOLD_ and its like) stays. The process then holds the most
/// memory that it ever needed.
void tuneAllocator();

} // namespace pdlrt

#endif // PDLRT_CORE_ALLOCATOR_H
