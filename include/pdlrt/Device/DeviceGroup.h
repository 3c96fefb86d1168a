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

/// A group of devices that exchange data. It has devices of this process, and
/// possibly devices of other processes, which make the same calls. Entry d of
/// an array in a call is for device d of this process. Not thread-safe, except
/// for `check` and `abort`.
class DeviceGroup {
public:
  /// Part of one device in a call: the stream to which the work is added, the
  /// input, and the output. Input and output must not overlap.
  struct Part {
    DeviceStream *stream;
    const void *from;
    void *to;
  };

  virtual ~DeviceGroup();

  /// Returns the implementation's name, for logs.
  virtual std::string describe() const = 0;
  /// Copies the inputs of all devices of the group, of `bytes` bytes each, one
  /// after the other in the order of the devices, to the output of each device.
  virtual Status gather(size_t bytes, std::span<const Part> parts) = 0;
  /// Adds up the inputs of all devices of the group, element by element, and
  /// writes the sum to the output of each device. Inputs have `count` numbers
  /// of type `type` (F32 or F64). All devices get the same result. The
  /// implementation chooses the order of the additions, and always uses the
  /// same.
  virtual Status sum(int32_t type, int64_t count,
                     std::span<const Part> parts) = 0;

  /// Returns an error if work of the group is known to have failed, for example
  /// because another process has ended. That work may then never end. For a
  /// group of several processes. Thread-safe.
  virtual Status check();
  /// Ends all work of the group that waits for other processes. Streams
  /// continue with undefined results. Later calls return errors. Thread-safe.
  virtual void abort();
};

/// Position of a process's devices in a group of several processes.
struct DeviceGroupPlace {
  DeviceGroupName name = {};
  /// `first`: index in the group of this process's first device. `count`:
  /// number of devices in the whole group.
  size_t first = 0, count = 0;
  /// Maximum time to wait for the other processes.
  std::chrono::milliseconds patience = std::chrono::minutes(1);
};

/// Creates a group whose devices exchange data through host memory. It works
/// with all kinds of devices, but its calls wait for each copy. Sums are
/// computed in the order of the devices.
std::unique_ptr<DeviceGroup> createHostGroup(std::span<Device *const> devices);

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICEGROUP_H
