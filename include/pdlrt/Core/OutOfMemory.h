//===- OutOfMemory.h - How much there was no memory for ---------*- C++ -*-===//
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

/// What the runtime's own buffers throw: knows how much was asked for.
class OutOfMemory : public std::bad_alloc {
public:
  explicit OutOfMemory(size_t asked) : bytes(asked) {}
  const char *what() const noexcept override { return "out of memory"; }
  size_t bytesAsked() const { return bytes; }

private:
  size_t bytes;
};

/// Memory aligned as buffers of the ABI are, for `::operator delete` with that
/// alignment. Throws OutOfMemory.
void *allocateAligned(size_t bytes);

/// "out of memory while it made rows for trainer 1 (it asked for 64.0 MiB)",
/// without the size where nobody knows it.
std::string describeOutOfMemory(const std::bad_alloc &error,
                                const std::string &doing);

} // namespace pdlrt

#endif // PDLRT_CORE_OUTOFMEMORY_H
