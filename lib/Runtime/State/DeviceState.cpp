//===- DeviceState.cpp - Parameters that stay on devices ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceState.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/State/Model.h"

#include <algorithm>

using namespace pdlrt;

DeviceState::DeviceState(std::span<Device *const> devices, const Model &model)
    : model(model), descriptor(model.descriptor()), gradientKernels(descriptor),
      devices(devices.begin(), devices.end()),
      isNewer(descriptor.symbol_count) {
  for (Device *device : devices)
    copies.push_back(std::make_unique<DeviceCopy>(*device, model, *this));
}

bool DeviceState::applies(int32_t symbol) const {
  const pdl_symbol &given = descriptor.symbols[symbol];
  return given.group >= 0 && given.device_kernel >= 0 &&
         (given.kind != PDL_SYMBOL_TABLE || ownTables);
}

Status DeviceState::keepTables() {
  if (ownTables)
    return {};
  Expected<std::unique_ptr<SpreadTables>> created =
      SpreadTables::create(devices, model);
  if (!created)
    return std::move(created).status();
  ownTables = std::move(*created);
  return {};
}

bool DeviceState::canTake(const pdl_descriptor &descriptor,
                          const GradientKernels &kernels, int32_t index) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  return symbol.group >= 0 && symbol.device_kernel >= 0 &&
         symbol.kind == PDL_SYMBOL_PARAMETER &&
         (descriptor.groups[symbol.group].clip < 0 ||
          kernels.has(pdlabi::GradientKernel::NormLanes, symbol.element_type));
}

bool DeviceState::takesGradient(int32_t index) const {
  if (!keepsGradients)
    return false;
  const pdl_symbol &symbol = descriptor.symbols[index];
  if (symbol.kind != PDL_SYMBOL_TABLE)
    return canTake(descriptor, gradientKernels, index);
  // With several replicas, the keys differ, and the host sums the gradients.
  return applies(index) && replicaCount == 1 && devices.size() == 1 &&
         descriptor.groups[symbol.group].clip < 0;
}

Status DeviceState::partialNorms(int32_t symbol, size_t block,
                                 const BlockGradient &gradient, int64_t unit,
                                 double weight, std::vector<double> &partials) {
  const void *sum = sums ? sums->of(block, 0) : nullptr;
  return copies.front()->partialNorms(descriptor.symbols[symbol].element_type,
                                      elementCount(descriptor.symbols[symbol]),
                                      unit, weight,
                                      sum ? sum : gradient.onDevice, partials);
}

void DeviceState::keepGradients(size_t replicas, size_t workers,
                                DeviceGroup *across) {
  sums.reset();
  replicaCount = replicas;
  const bool isAlone = replicas == 1 && !across;
  keepsGradients = isAlone || DeviceSums::canBe(descriptor, gradientKernels);
  if (isAlone || !keepsGradients)
    return;
  std::vector<DeviceCopy *> all;
  for (const std::unique_ptr<DeviceCopy> &copy : copies)
    all.push_back(copy.get());
  sums = std::make_unique<DeviceSums>(descriptor, gradientKernels, all, devices,
                                      replicas, workers,
                                      DeviceSums::bucketBytes, across);
}

Status DeviceState::apply(int32_t symbol, size_t block,
                          const BlockGradient &gradient, const void *scalars,
                          int64_t update) {
  if (descriptor.symbols[symbol].kind == PDL_SYMBOL_TABLE)
    return ownTables->apply(symbol, gradient, scalars, update);
  for (size_t d = 0; d < copies.size(); ++d) {
    BlockGradient given = gradient;
    if (const void *sum = sums ? sums->of(block, d) : nullptr)
      given.onDevice = sum;
    else if (copies.size() > 1) // one device's memory cannot be used by another
      given.onDevice = nullptr;
    PDLRT_RETURN_IF_ERROR(copies[d]->apply(symbol, given, scalars));
  }
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
  if (ownTables) {
    const Expected<int32_t> found = ownTables->finish();
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
  return ownTables ? ownTables->bringToHost() : Status();
}

/// Copies the gradients of a table's rows to the host.
Status DeviceState::bringRows(size_t block, const GradientBlock &of,
                              BlockGradient &gradient) {
  const size_t each = size_t(of.elementCount) * elementSize(of.elementType);
  auto *to = static_cast<char *>(
      gradients[block].reserve(each * size_t(gradient.keyCount)));
  PDLRT_RETURN_IF_ERROR(copies.front()->copyOut(
      to, gradient.onDevice, each * size_t(gradient.keyCount)));
  auto *rows = gradientRows[block].reserveFor<const void *>(gradient.keyCount);
  for (int64_t i = 0; i < gradient.keyCount; ++i, to += each)
    rows[i] = to;
  gradient.gradients = rows;
  return {};
}

Expected<PartialSum>
DeviceState::withGradients(PartialSum merged,
                           std::span<const GradientBlock> blocks) {
  gradients.resize(blocks.size());
  gradientRows.resize(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    BlockGradient &block = merged.blocks[b];
    if (blocks[b].isTable) {
      if (block.keyCount > 0 && !block.gradients)
        PDLRT_RETURN_IF_ERROR(bringRows(b, blocks[b], block));
      continue;
    }
    if (block.dense || !block.onDevice)
      continue;
    const size_t bytes =
        size_t(blocks[b].elementCount) * elementSize(blocks[b].elementType);
    const void *sum = sums ? sums->of(b, 0) : nullptr;
    const void *from = sum ? sum : block.onDevice;
    PDLRT_RETURN_IF_ERROR(
        copies.front()->copyOut(gradients[b].reserve(bytes), from, bytes));
    block.dense = gradients[b].data();
  }
  return merged;
}
