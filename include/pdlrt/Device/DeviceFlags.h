//===- DeviceFlags.h - What kernels found -----------------------*- C++ -*-===//
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

/// Flags of a device that its kernels set, each an int32_t that becomes 1 where
/// something was found, and what the host has of them. One thread at a time.
class DeviceFlags {
public:
  /// Makes room for so many, of which nothing is known then. Nobody uses them.
  Status reserve(Device &device, size_t flags);
  size_t size() const { return count; }

  /// What a kernel sets.
  int32_t *onDevice(size_t index) const {
    return static_cast<int32_t *>(memory.data()) + index;
  }

  // These add to `work`: a DeviceStream, or what collects work for one.

  /// None is set.
  template <typename Work> Status clear(Work &work) {
    return work.clear(memory.data(), bytes());
  }
  template <typename Work> Status bringToHost(Work &work) {
    return work.copyOut(copy.data(), memory.data(), bytes());
  }

  // When the host has waited for `bringToHost`.

  bool isSet(size_t index) const {
    return static_cast<const int32_t *>(copy.data())[index] != 0;
  }
  /// The first one that is set, -1 if none is.
  int32_t firstSet() const;

private:
  size_t bytes() const { return count * sizeof(int32_t); }

  size_t count = 0;
  DeviceBuffer memory, copy;
};

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICEFLAGS_H
