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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pdlrt {

/// Devices of this process that give each other what they have: device d is
/// number d of each call. One thread at a time.
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
  /// to[d] = from[0], from[1], ..., of `bytes` bytes each.
  virtual Status gather(size_t bytes, std::span<const Part> parts) = 0;
  /// to[d] = the sum of all `from`, of `count` numbers of `type` (F32 or F64):
  /// the same on all devices, in an order that the implementation chooses and
  /// always keeps.
  virtual Status sum(int32_t type, int64_t count,
                     std::span<const Part> parts) = 0;
};

/// A group whose devices exchange through memory of the host, whatever they
/// are: it waits for each copy. Sums are in the order of the devices.
std::unique_ptr<DeviceGroup> createHostGroup(std::span<Device *const> devices);

} // namespace pdlrt

#endif // PDLRT_DEVICE_DEVICEGROUP_H
