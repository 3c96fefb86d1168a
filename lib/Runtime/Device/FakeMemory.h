//===- FakeMemory.h - Address range of a fake device ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_FAKEMEMORY_H
#define LIB_RUNTIME_DEVICE_FAKEMEMORY_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

namespace pdlrt {

/// An allocation of a fake device, or of host memory by it, and the work that
/// has used it.
struct FakeAllocation {
  char *begin = nullptr;
  size_t bytes = 0;
  /// Device memory: its pages. The allocation ends at their end, except for
  /// padding to a multiple of 64.
  char *pages = nullptr;
  size_t pageBytes = 0;

  /// The last work that wrote it, and the work of each stream that has read it
  /// since: the stream, and the number of the work in it.
  size_t writer = 0;
  uint64_t written = 0;
  std::map<size_t, uint64_t> readers;
};

/// Indexed by their first address.
using FakeAllocations = std::map<char *, FakeAllocation>;

/// Returns the allocation that contains this range; null if there is none.
FakeAllocation *findAllocation(FakeAllocations &allocations,
                               const void *pointer, size_t bytes);

/// Memory that a piece of work uses.
struct FakeUse {
  FakeAllocation *allocation;
  bool isWritten;
};

/// An address range that can only be accessed in `touch`. Addresses are never
/// reused, so that use after free is detected. Not thread-safe.
class FakeMemory {
public:
  FakeMemory();
  FakeMemory(const FakeMemory &) = delete;
  FakeMemory &operator=(const FakeMemory &) = delete;
  ~FakeMemory();

  /// Allocates memory filled with NaN. Returns null if addresses or memory are
  /// exhausted.
  FakeAllocation *allocate(size_t bytes);
  void release(FakeAllocation &allocation);
  /// Returns true if the address is in the range.
  bool contains(const void *pointer) const;
  /// Returns the allocation that contains this memory; null if there is none.
  FakeAllocation *find(const void *pointer, size_t bytes) {
    return findAllocation(allocations, pointer, bytes);
  }

  /// Makes these allocations accessible to the calling thread while `body`
  /// runs, for writing only if the use says so. Any other access to the range
  /// is an error, and ends `body`.
  static Status touch(std::span<const FakeUse> uses,
                      const std::function<void()> &body);

private:
  char *range = nullptr;
  size_t used = 0;
  FakeAllocations allocations;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_FAKEMEMORY_H
