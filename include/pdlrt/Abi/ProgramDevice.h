//===- ProgramDevice.h - Devices of a program -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_PROGRAMDEVICE_H
#define PDLRT_ABI_PROGRAMDEVICE_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Device/Device.h"

#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// A device that has loaded the kernels of a compiled program. Thread-safe.
class ProgramDevice {
public:
  /// Checks a list of devices for a process with this number of replicas,
  /// without opening them.
  static Status check(const std::string &names, int replicas);
  /// Opens the devices in a list separated by commas: "cuda" or "cuda:N",
  /// NVIDIA GPU N; "N", another GPU; "fake", which runs kernels on the host and
  /// checks its calls. For tests, "fake:KIND=N" fails after N "allocations",
  /// "launches" or pieces of "work", or declines "products" after N of them.
  /// Errors list the valid names. `descriptor` must be of a program for a
  /// device, and must outlive the devices. `roundsToTF32`: as in `DeviceCode`.
  static Expected<std::vector<std::unique_ptr<ProgramDevice>>>
  open(const pdl_descriptor &descriptor, const std::string &names, int replicas,
       bool roundsToTF32);

  Device &device() { return *opened; }

private:
  explicit ProgramDevice(const pdl_descriptor &descriptor);

  std::vector<DeviceKernel> kernels;
  std::unique_ptr<Device> opened;
};

} // namespace pdlrt

#endif // PDLRT_ABI_PROGRAMDEVICE_H
