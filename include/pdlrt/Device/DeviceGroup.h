//===- DeviceGroup.h - Collectives of devices -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DEVICE_DEVICEGROUP_H
#define PDLRT_DEVICE_DEVICEGROUP_H

#include "pdlrt/Device/Device.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pdlrt {

/// A group of devices that exchange data: those of this process, and possibly
/// those of other processes that make the same calls. Device d of this process
/// is number d of each call here. Not thread-safe, except for `check` and
/// `abort`.
class DeviceGroup {
public:
  /// The part of one device: the stream to which the work is added, its input,
  /// and its output. Input and output do not overlap.
  struct Part {
    DeviceStream *stream;
    const void *from;
    void *to;
  };

  virtual ~DeviceGroup();

  /// Returns the implementation's name, for logs.
  virtual std::string describe() const = 0;
  /// Computes to[d] = from[0], from[1], ..., of `bytes` bytes each, of all
  /// devices of the group in the order of their numbers.
  virtual Status gather(size_t bytes, std::span<const Part> parts) = 0;
  /// Computes to[d] = the sum of all `from`, of `count` numbers of `type` (F32
  /// or F64). The result is the same on all devices. The implementation chooses
  /// the order of the sum and never changes it.
  virtual Status sum(int32_t type, int64_t count,
                     std::span<const Part> parts) = 0;

  /// Returns the known errors of work added so far, for a group of several
  /// processes. After an error that work may never end. Thread-safe.
  virtual Status check();
  /// Ends all work that waits for other processes, now and in the future.
  /// Streams continue with undefined results, and later calls return errors.
  /// Thread-safe.
  virtual void abort();
};

/// Position of a process's devices in a group of several processes.
struct DeviceGroupPlace {
  DeviceGroupName name = {};
  /// Number of the first of them, and number of all devices in the group.
  size_t first = 0, count = 0;
  /// Maximum time to wait for the other processes.
  std::chrono::milliseconds patience = std::chrono::minutes(1);
};

/// Creates a group whose devices exchange data through host memory. It works
/// with all devices and waits for each copy. Sums are in the order of the
/// devices.
std::unique_ptr<DeviceGroup> createHostGroup(std::span<Device *const> devices);

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICEGROUP_H
