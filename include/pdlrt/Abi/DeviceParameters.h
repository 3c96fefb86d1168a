//===- DeviceParameters.h - Dense state on a device -------------*- C++ -*-===//
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

/// Parameters that stay on a device between steps. Thread-safe.
class DeviceParameters {
public:
  virtual ~DeviceParameters();

  /// Returns the device address of the part of a parameter that a program
  /// reads: its value or, if `frozen`, the part that `pdl_symbol::frozen_part`
  /// names, for example an average. Copies it to the device first if the copy
  /// there is outdated. Work that is added from now on can use the address,
  /// until the next update.
  virtual Expected<void *> parameter(int32_t symbol, bool frozen) = 0;
  /// Returns true if the optimizer rule of a parameter or table reads its
  /// gradient on the device. Then the gradient is not copied to the host.
  virtual bool takesGradient(int32_t symbol) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICEPARAMETERS_H
