//===- DeviceGroup.h - What devices do together -----------------*- C++ -*-===//
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

/// Devices that give each other what they have: those of this process, and
/// maybe of others that make the same calls. Device d of this process is number
/// d of each call here. One thread at a time, but for `check` and `abort`.
class DeviceGroup {
public:
  /// Of one device: the stream that the work is added to, what it gives, and
  /// where it gets what all of them gave. These do not overlap.
  struct Part {
    DeviceStream *stream;
    const void *from;
    void *to;
  };

  virtual ~DeviceGroup();

  /// How it does so, for logs.
  virtual std::string describe() const = 0;
  /// to[d] = from[0], from[1], ..., of `bytes` bytes each: of all devices of
  /// the group, by their numbers in it.
  virtual Status gather(size_t bytes, std::span<const Part> parts) = 0;
  /// to[d] = the sum of all `from`, of `count` numbers of `type` (F32 or F64):
  /// the same on all devices, in an order that the implementation chooses and
  /// always keeps.
  virtual Status sum(int32_t type, int64_t count,
                     std::span<const Part> parts) = 0;

  /// Of a group of several processes: what is known to have gone wrong with
  /// what was added so far, which may also never end then. Any thread.
  virtual Status check();
  /// Ends what waits for other processes, and all that would: streams go on,
  /// with results that mean nothing, and calls from now on are errors. Any
  /// thread.
  virtual void abort();
};

/// Where the devices of a process are in a group of several.
struct DeviceGroupPlace {
  DeviceGroupName name = {};
  /// The number of the first of them, and how many devices the group has.
  size_t first = 0, count = 0;
  /// How long others may take to come.
  std::chrono::milliseconds patience = std::chrono::minutes(1);
};

/// A group whose devices exchange through memory of the host, whatever they
/// are: it waits for each copy. Sums are in the order of the devices.
std::unique_ptr<DeviceGroup> createHostGroup(std::span<Device *const> devices);

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICEGROUP_H
