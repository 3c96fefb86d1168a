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

/// The scalars that `pdl_group::once` wrote in an update, for rules on a
/// device. Not thread-safe.
class DeviceScalars {
public:
  /// Both must outlive it.
  DeviceScalars(Device &device, const pdl_descriptor &descriptor)
      : device(device), descriptor(descriptor), groups(descriptor.group_count) {
  }

  /// Returns the address of a group's scalars on the device, for work added to
  /// the stream from now on. Copies them once per update.
  Expected<const void *> send(DeviceStream &stream, int32_t group,
                              const void *scalars);
  /// Ends the update, after the stream has been waited for. The next update has
  /// new scalars.
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
