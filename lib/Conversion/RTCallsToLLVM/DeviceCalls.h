//===- DeviceCalls.h - Calls for device stages ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_RTCALLSTOLLVM_DEVICECALLS_H
#define LIB_CONVERSION_RTCALLSTOLLVM_DEVICECALLS_H

#include "CallBuilder.h"

namespace pdlc {

/// Adds the ops with which a stage uses a device (RTDeviceOps.td).
void addDeviceCalls(CallLowerings &lowerings);

} // namespace pdlc

#endif // LIB_CONVERSION_RTCALLSTOLLVM_DEVICECALLS_H
