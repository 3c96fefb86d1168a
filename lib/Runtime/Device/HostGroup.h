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

/// Creates a group like `createHostGroup`, of several processes on one host.
/// Blocks until all have joined.
Expected<std::unique_ptr<DeviceGroup>>
joinHostGroup(std::span<Device *const> devices, const DeviceGroupPlace &place);

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_HOSTGROUP_H
