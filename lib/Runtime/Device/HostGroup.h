//===- HostGroup.h - Device groups through the host -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DEVICE_HOSTGROUP_H
#define LIB_RUNTIME_DEVICE_HOSTGROUP_H

#include "pdlrt/Device/DeviceGroup.h"

#include <memory>
#include <span>

namespace pdlrt {

/// Creates a group of devices in several processes of one host; otherwise like
/// `createHostGroup`. Blocks until all processes have joined.
Expected<std::unique_ptr<DeviceGroup>>
joinHostGroup(std::span<Device *const> devices, const DeviceGroupPlace &place);

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_HOSTGROUP_H
