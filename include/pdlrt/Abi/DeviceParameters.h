//===- DeviceParameters.h - Dense state that a device has -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICEPARAMETERS_H
#define PDLRT_ABI_DEVICEPARAMETERS_H

#include "pdlrt/Core/Status.h"

#include <cstdint>

namespace pdlrt {

/// Parameters that stay on a device from step to step. Thread-safe.
class DeviceParameters {
public:
  virtual ~DeviceParameters();

  /// The address on the device of what stages read of a parameter. Work that
  /// any stream gets from now on finds it there, until the next update.
  virtual Expected<void *> parameter(int32_t symbol, bool frozen) = 0;
  /// Whether the rule of a parameter or table takes its gradient from the
  /// device, so that the host need not have it.
  virtual bool takesGradient(int32_t symbol) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICEPARAMETERS_H
