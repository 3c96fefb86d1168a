//===- OutOfMemory.h - Errors of memory allocation --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_OUTOFMEMORY_H
#define PDLRT_CORE_OUTOFMEMORY_H

#include <cstddef>
#include <new>
#include <string>

namespace pdlrt {

/// Exception that the runtime's own buffers throw. It contains the requested
/// size.
class OutOfMemory : public std::bad_alloc {
public:
  explicit OutOfMemory(size_t asked) : bytes(asked) {}
  const char *what() const noexcept override { return "out of memory"; }
  size_t bytesRequested() const { return bytes; }

private:
  size_t bytes;
};

/// Allocates memory with the alignment of ABI buffers; free it with `::operator
/// delete` and that alignment. Throws OutOfMemory.
void *allocateAligned(size_t bytes);

/// Returns an error message for `error`. `doing` says what the program did at
/// that time. An example: "out of memory while it made rows for trainer 1 (it
/// asked for 64.0 MiB)". Omits the size if it is unknown.
std::string describeOutOfMemory(const std::bad_alloc &error,
                                const std::string &doing);

} // namespace pdlrt

#endif // PDLRT_CORE_OUTOFMEMORY_H
