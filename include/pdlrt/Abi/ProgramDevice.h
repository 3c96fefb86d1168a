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
  /// Checks the list of devices `names` (see `open`) for a process with
  /// `replicas` replicas. Opens no device.
  static Status check(const std::string &names, int replicas);
  /// Opens the devices in a list that is separated by commas:
  /// - "cuda:N" is NVIDIA GPU N, and "cuda" is GPU 0.
  /// - "N", after one of these, is another GPU: "cuda:0,1".
  /// - "fake" runs kernels on the host, and checks how it is called. In tests,
  ///   "fake:KIND=N" fails after N "allocations", "launches" or pieces of
  ///   "work", or declines matrix "products" after N of them.
  ///
  /// An error message lists the valid names. `descriptor` must be of a program
  /// for a device, and must outlive the devices. `roundsToTF32`: as in
  /// `DeviceCode`.
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
