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

/// Memory that a fake device has allocated, on the device or on the host, and
/// the latest work that has used it.
struct FakeAllocation {
  char *begin = nullptr;
  size_t bytes = 0;
  /// If it is device memory, the pages that contain it. The allocation ends at
  /// the end of the pages, except for padding to a multiple of 64 bytes.
  char *pages = nullptr;
  size_t pageBytes = 0;

  /// The last write: number of the stream, and of the work in that stream.
  /// `readers`: the last reads since then, as a map from streams to numbers of
  /// work.
  size_t writer = 0;
  uint64_t written = 0;
  std::map<size_t, uint64_t> readers;
};

/// Indexed by their first address.
using FakeAllocations = std::map<char *, FakeAllocation>;

/// Returns the allocation that contains [pointer, pointer + bytes), or null if
/// there is none.
FakeAllocation *findAllocation(FakeAllocations &allocations,
                               const void *pointer, size_t bytes);

/// Memory that a piece of work uses.
struct FakeUse {
  FakeAllocation *allocation;
  bool isWritten;
};

/// An address range that is accessible only during `touch`. Addresses are never
/// reused, so that a use after free is detected. Not thread-safe.
class FakeMemory {
public:
  FakeMemory();
  FakeMemory(const FakeMemory &) = delete;
  FakeMemory &operator=(const FakeMemory &) = delete;
  ~FakeMemory();

  /// Allocates memory filled with NaN. Returns null if the address range or the
  /// memory is exhausted.
  FakeAllocation *allocate(size_t bytes);
  void release(FakeAllocation &allocation);
  /// Returns true if the address is in the range.
  bool contains(const void *pointer) const;
  /// Returns the allocation that contains [pointer, pointer + bytes), or null
  /// if there is none.
  FakeAllocation *find(const void *pointer, size_t bytes) {
    return findAllocation(allocations, pointer, bytes);
  }

  /// Runs `body` with access to the memory in `uses`, for writing only if the
  /// use says so. An access to other memory of the range ends `body`, and is
  /// returned as an error.
  static Status touch(std::span<const FakeUse> uses,
                      const std::function<void()> &body);

private:
  char *range = nullptr;
  size_t used = 0;
  FakeAllocations allocations;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_FAKEMEMORY_H
