//===- DeviceScalars.h - The scalars of groups on a device ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICESCALARS_H
#define PDLRT_STATE_DEVICESCALARS_H

#include "pdlabi/abi.h"
#include "pdlrt/Device/Device.h"

#include <vector>

namespace pdlrt {

/// What `pdl_group::once` has written in an update, as rules read it on a
/// device. One thread at a time.
class DeviceScalars {
public:
  /// Both outlive it.
  DeviceScalars(Device &device, const pdl_descriptor &descriptor)
      : device(device), descriptor(descriptor), groups(descriptor.group_count) {
  }

  /// Where a group's scalars are, for work that the stream gets from now on.
  /// They are copied once an update.
  Expected<const void *> send(DeviceStream &stream, int32_t group,
                              const void *scalars);
  /// The stream has been waited for: the next update has others.
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
