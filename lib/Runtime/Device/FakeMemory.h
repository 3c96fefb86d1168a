//===- FakeMemory.h - A range of addresses for a device ---------*- C++ -*-===//
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

/// What was allocated of a fake device, or by it of the host, and which work
/// has used it.
struct FakeAllocation {
  char *begin = nullptr;
  size_t bytes = 0;
  /// Of the device: the pages that hold it; it ends with them, but for what
  /// makes it a multiple of 64.
  char *pages = nullptr;
  size_t pageBytes = 0;

  /// Of the work that wrote it last, and of each stream's that read it since:
  /// the stream, and its number in that.
  size_t writer = 0;
  uint64_t written = 0;
  std::map<size_t, uint64_t> readers;
};

/// By where they begin.
using FakeAllocations = std::map<char *, FakeAllocation>;

/// The one that holds so many bytes from there on; null: none does.
FakeAllocation *findAllocation(FakeAllocations &allocations,
                               const void *pointer, size_t bytes);

/// Memory that a piece of work uses.
struct FakeUse {
  FakeAllocation *allocation;
  bool isWritten;
};

/// Addresses that nobody may touch but through `touch`. Addresses are never
/// given a second time, so that what is used behind its end is noticed. Not
/// thread-safe.
class FakeMemory {
public:
  FakeMemory();
  FakeMemory(const FakeMemory &) = delete;
  FakeMemory &operator=(const FakeMemory &) = delete;
  ~FakeMemory();

  /// Full of NaN. Null where there are no addresses, or no memory, left.
  FakeAllocation *allocate(size_t bytes);
  void release(FakeAllocation &allocation);
  /// Whether the address is one of the range.
  bool contains(const void *pointer) const;
  /// What holds so many bytes from there on; null: nothing that was allocated.
  FakeAllocation *find(const void *pointer, size_t bytes) {
    return findAllocation(allocations, pointer, bytes);
  }

  /// Lets the calling thread reach these, to write where that is said, and
  /// nothing else of the range, while `body` runs. What it touches besides is
  /// an error; then `body` has not come to its end.
  static Status touch(std::span<const FakeUse> uses,
                      const std::function<void()> &body);

private:
  char *range = nullptr;
  size_t used = 0;
  FakeAllocations allocations;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_FAKEMEMORY_H
