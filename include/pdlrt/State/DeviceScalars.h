//===- DeviceScalars.h - Scalars of groups on a device ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICESCALARS_H
#define PDLRT_STATE_DEVICESCALARS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Device/Device.h"

#include <vector>

namespace pdlrt {

/// Copies the scalars of groups to a device, for optimizer rules there.
/// `pdl_group::once` writes them once per update. Not thread-safe.
class DeviceScalars {
public:
  /// The referenced objects must outlive this one.
  DeviceScalars(Device &device, const pdl_descriptor &descriptor)
      : device(device), descriptor(descriptor), groups(descriptor.group_count) {
  }

  /// Returns the device address of a group's scalars, for work that is added to
  /// `stream` from now on. Copies them at the first call in an update.
  Expected<const void *> send(DeviceStream &stream, int32_t group,
                              const void *scalars);
  /// Ends the update: the next `send` copies new scalars. Call after waiting
  /// for the stream.
  void endUpdate();

private:
  struct Group {
    DeviceBuffer memory, onHost;
    bool areSent = false;
  };

  Device &device;
  const pdl_descriptor &descriptor;
  std::vector<Group> groups;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESCALARS_H
