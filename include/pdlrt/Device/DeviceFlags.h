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

/// Flags in device memory, by which kernels report conditions, and a copy of
/// them on the host. Each flag is an int32_t that a kernel sets to 1. Not
/// thread-safe.
class DeviceFlags {
public:
  /// Allocates `flags` flags, with undefined values. No work may be using the
  /// flags during the call.
  Status reserve(Device &device, size_t flags);
  size_t size() const { return count; }

  /// Returns the device address of a flag, for the arguments of kernels.
  int32_t *onDevice(size_t index) const {
    return static_cast<int32_t *>(memory.data()) + index;
  }

  // The following functions add work to `work`: a DeviceStream, or an object
  // with the same functions, such as DeviceCommands.

  /// Resets all flags.
  template <typename Work> Status clear(Work &work) {
    return work.clear(memory.data(), bytes());
  }
  template <typename Work> Status bringToHost(Work &work) {
    return work.copyOut(copy.data(), memory.data(), bytes());
  }

  // Call the following functions after the host has waited for the work of
  // `bringToHost`.

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
