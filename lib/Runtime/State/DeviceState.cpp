//===- DeviceState.cpp - Parameters that stay on devices ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceState.h"

#include "pdlrt/State/Model.h"

#include <algorithm>

using namespace pdlrt;

DeviceState::DeviceState(std::span<Device *const> devices, const Model &model)
    : descriptor(model.descriptor()), isNewer(descriptor.symbol_count) {
  for (Device *device : devices)
    copies.push_back(std::make_unique<DeviceCopy>(*device, model, *this));
}

bool DeviceState::applies(int32_t symbol) const {
  return descriptor.symbols[symbol].group >= 0 &&
         descriptor.symbols[symbol].device_kernel >= 0;
}

bool DeviceState::takesGradient(int32_t symbol) const {
  // The host forms the norms of clips.
  return keepsGradients && applies(symbol) &&
         descriptor.groups[descriptor.symbols[symbol].group].clip < 0;
}

Status DeviceState::apply(int32_t symbol, const BlockGradient &gradient,
                          const void *scalars) {
  BlockGradient given = gradient;
  // The memory of one device is none of another.
  if (copies.size() > 1)
    given.onDevice = nullptr;
  for (const std::unique_ptr<DeviceCopy> &copy : copies)
    PDLRT_RETURN_IF_ERROR(copy->apply(symbol, given, scalars));
  isNewer[symbol] = true;
  return {};
}

Expected<int32_t> DeviceState::finish() {
  int32_t bad = -1;
  for (const std::unique_ptr<DeviceCopy> &copy : copies) {
    const Expected<int32_t> found = copy->finish();
    if (!found)
      return found.status();
    bad = std::max(bad, *found);
  }
  return bad;
}

void DeviceState::changeOnHost(int32_t symbol) {
  for (const std::unique_ptr<DeviceCopy> &copy : copies)
    copy->outdate(symbol);
}

Status DeviceState::bringToHost() {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    if (!isNewer[s])
      continue;
    PDLRT_RETURN_IF_ERROR(copies.front()->bringToHost(s));
    isNewer[s] = false;
  }
  return {};
}

Expected<Contribution>
DeviceState::withGradients(Contribution merged,
                           std::span<const GradientBlock> blocks) {
  gradients.resize(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    BlockGradient &block = merged.blocks[b];
    if (blocks[b].isTable || block.dense || !block.onDevice)
      continue;
    const size_t bytes =
        size_t(blocks[b].elementCount) * elementSize(blocks[b].elementType);
    PDLRT_RETURN_IF_ERROR(copies.front()->copyOut(gradients[b].reserve(bytes),
                                                  block.onDevice, bytes));
    block.dense = gradients[b].data();
  }
  return merged;
}
