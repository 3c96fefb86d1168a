//===- DeviceFlags.cpp - Flags that kernels set ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Device/DeviceFlags.h"

using namespace pdlrt;

Status DeviceFlags::reserve(Device &device, size_t flags) {
  count = flags;
  PDLRT_RETURN_IF_ERROR(
      pdlrt::reserve(device, memory, DeviceBuffer::Kind::OfDevice, bytes()));
  return pdlrt::reserve(device, copy, DeviceBuffer::Kind::OfHost, bytes());
}

int32_t DeviceFlags::firstSet() const {
  for (size_t i = 0; i < count; ++i)
    if (isSet(i))
      return int32_t(i);
  return -1;
}
