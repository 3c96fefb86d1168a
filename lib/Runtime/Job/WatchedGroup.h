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

/// Returns a group of devices that a thread aborts when the job or the group
/// fails. Otherwise a device would wait forever for a device of a lost process.
/// After a failure, operations return the error of the job, or the error of
/// `group` if the job reports none within `patience`. `failure`: returns the
/// error of the job; it may be called on any thread.
std::unique_ptr<DeviceGroup> watchGroup(std::unique_ptr<DeviceGroup> group,
                                        std::function<Status()> failure,
                                        std::chrono::milliseconds patience);

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_WATCHEDGROUP_H
