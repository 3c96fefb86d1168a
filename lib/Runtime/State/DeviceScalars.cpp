//===- DeviceScalars.cpp - Scalars of groups on a device ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceScalars.h"

#include "pdlrt/Abi/Descriptor.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace pdlrt;

Expected<const void *> DeviceScalars::send(DeviceStream &stream, int32_t group,
                                           const void *scalars) {
  Group &own = groups[group];
  if (own.areSent)
    return own.memory.data();
  const size_t bytes = size_t(descriptor.groups[group].scalar_count) *
                       elementSize(descriptor.groups[group].element_type);
  PDLRT_RETURN_IF_ERROR(reserve(device, own.memory,
                                DeviceBuffer::Kind::OfDevice,
                                std::max<size_t>(bytes, 1)));
  PDLRT_RETURN_IF_ERROR(reserve(device, own.onHost, DeviceBuffer::Kind::OfHost,
                                std::max<size_t>(bytes, 1)));
  if (bytes > 0)
    std::memcpy(own.onHost.data(), scalars, bytes);
  PDLRT_RETURN_IF_ERROR(
      stream.copyIn(own.memory.data(), own.onHost.data(), bytes));
  own.areSent = true;
  return own.memory.data();
}

void DeviceScalars::endUpdate() {
  for (Group &own : groups)
    own.areSent = false;
}
