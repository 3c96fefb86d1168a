//===- DeviceFlags.h - Flags that kernels set -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DEVICE_DEVICEFLAGS_H
#define PDLRT_DEVICE_DEVICEFLAGS_H

#include "pdlrt/Device/Device.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Flags in device memory that kernels set, and their copy on the host. Each is
/// an int32_t that becomes 1 if a kernel finds the condition. Not thread-safe.
class DeviceFlags {
public:
  /// Allocates the flags, with undefined values. They must not be in use.
  Status reserve(Device &device, size_t flags);
  size_t size() const { return count; }

  /// Returns the address of a flag for kernels.
  int32_t *onDevice(size_t index) const {
    return static_cast<int32_t *>(memory.data()) + index;
  }

  // These functions add to `work`: a DeviceStream, or an object that collects
  // work for one.

  /// Resets all flags.
  template <typename Work> Status clear(Work &work) {
    return work.clear(memory.data(), bytes());
  }
  template <typename Work> Status bringToHost(Work &work) {
    return work.copyOut(copy.data(), memory.data(), bytes());
  }

  // Call after the host has waited for `bringToHost`.

  bool isSet(size_t index) const {
    return static_cast<const int32_t *>(copy.data())[index] != 0;
  }
  /// Returns the index of the first flag that is set, -1 if there is none.
  int32_t firstSet() const;

private:
  size_t bytes() const { return count * sizeof(int32_t); }

  size_t count = 0;
  DeviceBuffer memory, copy;
};

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICEFLAGS_H
