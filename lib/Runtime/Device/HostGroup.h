//===- HostGroup.h - What devices do together, by the host ------*- C++ -*-===//
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

/// A group as of `createHostGroup`, of several processes of one host; blocks
/// until all are there.
Expected<std::unique_ptr<DeviceGroup>>
joinHostGroup(std::span<Device *const> devices, const DeviceGroupPlace &place);

} // namespace pdlrt

#endif // LIB_RUNTIME_DEVICE_HOSTGROUP_H
