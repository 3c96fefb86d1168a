//===- WatchedGroup.h - Devices of a job that may fail ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_WATCHEDGROUP_H
#define LIB_RUNTIME_JOB_WATCHEDGROUP_H

#include "pdlrt/Device/DeviceGroup.h"

#include <chrono>
#include <functional>
#include <memory>

namespace pdlrt {

/// A group of devices that ends when the job fails, which `failure` says on any
/// thread: a device waits for others for ever. What fails then does so with the
/// job's sentence; an error of the group that the job does not explain within
/// `patience` is the group's own.
std::unique_ptr<DeviceGroup> watchGroup(std::unique_ptr<DeviceGroup> group,
                                        std::function<Status()> failure,
                                        std::chrono::milliseconds patience);

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_WATCHEDGROUP_H
