//===- WatchedGroup.h - Device group that may fail --------------*- C++ -*-===//
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

/// Returns a group of devices that is aborted when the job fails, because a
/// device would wait for the others forever. `failure` returns the job's error
/// and may be called on any thread. Operations then fail with the job's error.
/// If the job has no error within `patience`, they fail with the group's own
/// error.
std::unique_ptr<DeviceGroup> watchGroup(std::unique_ptr<DeviceGroup> group,
                                        std::function<Status()> failure,
                                        std::chrono::milliseconds patience);

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_WATCHEDGROUP_H
