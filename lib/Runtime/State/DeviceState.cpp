//===- DeviceState.cpp - Parameters that stay on a device -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceState.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/State/Model.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

DeviceState::DeviceState(Device &device, const Model &model)
    : device(device), model(model), descriptor(model.descriptor()),
      parameters(descriptor.symbol_count), scalars(descriptor.group_count) {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s)
    parameters[s].parts.resize(1 + descriptor.symbols[s].slot_count);
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

Status DeviceState::prepareStream() {
  if (stream)
    return {};
  Expected<std::unique_ptr<DeviceStream>> created =
      device.createStream("rules");
  if (!created)
    return std::move(created).status();
  stream = std::move(*created);
  return {};
}

Status DeviceState::reserve(DeviceBuffer &memory, DeviceBuffer::Kind kind,
                            size_t bytes) {
  if (memory.data())
    return {};
  Expected<DeviceBuffer> given =
      device.allocate(kind, std::max<size_t>(bytes, 1));
  if (!given)
    return std::move(given).status();
  memory = std::move(*given);
  return {};
}

size_t DeviceState::partBytes(int32_t symbol, int32_t part) const {
  return size_t(model.heldElements(symbol, part)) *
         elementSize(descriptor.symbols[symbol]);
}

//===----------------------------------------------------------------------===//
// Between host and device
//===----------------------------------------------------------------------===//

Status DeviceState::update(int32_t symbol) {
  Parameter &parameter = parameters[symbol];
  if (parameter.newest != Newest::OnHost)
    return {};
  const TraceSpan span("copy parameter");
  PDLRT_RETURN_IF_ERROR(prepareStream());
  const int32_t frozen = descriptor.symbols[symbol].frozen_part;
  for (int32_t part = 0; part < int32_t(parameter.parts.size()); ++part) {
    if (part != 0 && part != frozen && !applies(symbol))
      continue;
    DeviceBuffer &memory = parameter.parts[part];
    const size_t bytes = partBytes(symbol, part);
    PDLRT_RETURN_IF_ERROR(reserve(memory, DeviceBuffer::Kind::OfDevice, bytes));
    PDLRT_RETURN_IF_ERROR(
        stream->copyIn(memory.data(), model.part(symbol, part), bytes));
  }
  PDLRT_RETURN_IF_ERROR(stream->synchronize());
  parameter.newest = Newest::Same;
  return {};
}

Expected<void *> DeviceState::parameter(int32_t symbol, bool frozen) {
  const std::lock_guard lock(mutex);
  PDLRT_RETURN_IF_ERROR(update(symbol));
  const int32_t part = frozen ? descriptor.symbols[symbol].frozen_part : 0;
  return parameters[symbol].parts[part].data();
}

void DeviceState::changeOnHost(int32_t symbol) {
  const std::lock_guard lock(mutex);
  parameters[symbol].newest = Newest::OnHost;
}

Status DeviceState::bringToHost() {
  const std::lock_guard lock(mutex);
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    Parameter &parameter = parameters[s];
    if (parameter.newest != Newest::OnDevice)
      continue;
    for (int32_t part = 0; part < int32_t(parameter.parts.size()); ++part)
      PDLRT_RETURN_IF_ERROR(stream->copyOut(model.part(s, part),
                                            parameter.parts[part].data(),
                                            partBytes(s, part)));
    PDLRT_RETURN_IF_ERROR(stream->synchronize());
    parameter.newest = Newest::Same;
  }
  return {};
}

Expected<Contribution>
DeviceState::withGradients(Contribution merged,
                           std::span<const GradientBlock> blocks) {
  const std::lock_guard lock(mutex);
  PDLRT_RETURN_IF_ERROR(prepareStream());
  gradients.resize(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    BlockGradient &block = merged.blocks[b];
    if (blocks[b].isTable || block.dense || !block.onDevice)
      continue;
    const size_t bytes =
        size_t(blocks[b].elementCount) * elementSize(blocks[b].elementType);
    PDLRT_RETURN_IF_ERROR(
        stream->copyOut(gradients[b].reserve(bytes), block.onDevice, bytes));
    block.dense = gradients[b].data();
  }
  PDLRT_RETURN_IF_ERROR(stream->synchronize());
  return merged;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Status DeviceState::sendScalars(int32_t group, const void *from) {
  Scalars &own = scalars[group];
  if (std::exchange(own.areSent, true))
    return {};
  const size_t bytes = size_t(descriptor.groups[group].scalar_count) *
                       elementSize(descriptor.groups[group].element_type);
  PDLRT_RETURN_IF_ERROR(
      reserve(own.memory, DeviceBuffer::Kind::OfDevice, bytes));
  PDLRT_RETURN_IF_ERROR(reserve(own.onHost, DeviceBuffer::Kind::OfHost, bytes));
  if (bytes > 0)
    std::memcpy(own.onHost.data(), from, bytes);
  return stream->copyIn(own.memory.data(), own.onHost.data(), bytes);
}

Status DeviceState::apply(int32_t index, const BlockGradient &gradient,
                          const void *scalarsOfGroup) {
  const std::lock_guard lock(mutex);
  const pdl_symbol &symbol = descriptor.symbols[index];
  Parameter &parameter = parameters[index];
  const size_t flags = parameters.size() * sizeof(int32_t);
  PDLRT_RETURN_IF_ERROR(prepareStream());
  PDLRT_RETURN_IF_ERROR(update(index));
  if (!std::exchange(isUpdating, true)) {
    PDLRT_RETURN_IF_ERROR(reserve(found, DeviceBuffer::Kind::OfDevice, flags));
    PDLRT_RETURN_IF_ERROR(
        reserve(foundOnHost, DeviceBuffer::Kind::OfHost, flags));
    PDLRT_RETURN_IF_ERROR(stream->clear(found.data(), flags));
  }
  PDLRT_RETURN_IF_ERROR(sendScalars(symbol.group, scalarsOfGroup));
  const void *values = gradient.onDevice;
  if (!values) {
    const size_t bytes = partBytes(index, 0);
    PDLRT_RETURN_IF_ERROR(
        reserve(parameter.gradient, DeviceBuffer::Kind::OfDevice, bytes));
    PDLRT_RETURN_IF_ERROR(
        stream->copyIn(parameter.gradient.data(), gradient.dense, bytes));
    values = parameter.gradient.data();
  }
  const int64_t elements = model.heldElements(index);
  const int64_t turns = symbol.kernel_unit == PDL_UNIT_ROW
                            ? elements / symbol.row_width
                            : elements;
  std::vector<uint64_t> arguments = {uint64_t(turns)};
  const auto give = [&](const void *pointer) {
    arguments.push_back(reinterpret_cast<uint64_t>(pointer));
  };
  for (const DeviceBuffer &part : parameter.parts)
    give(part.data());
  give(values);
  give(scalars[symbol.group].memory.data());
  give(static_cast<int32_t *>(found.data()) + index);
  parameter.newest = Newest::OnDevice;
  return stream->launch(size_t(symbol.device_kernel), turns, arguments);
}

Expected<int32_t> DeviceState::finish() {
  const std::lock_guard lock(mutex);
  if (!std::exchange(isUpdating, false))
    return -1;
  const TraceSpan span("wait for rules");
  PDLRT_RETURN_IF_ERROR(stream->copyOut(foundOnHost.data(), found.data(),
                                        parameters.size() * sizeof(int32_t)));
  PDLRT_RETURN_IF_ERROR(stream->synchronize());
  for (Scalars &own : scalars)
    own.areSent = false;
  const std::span<const int32_t> wrote(
      static_cast<const int32_t *>(foundOnHost.data()), parameters.size());
  const auto first = std::ranges::find(wrote, 1);
  return first == wrote.end() ? -1 : int32_t(first - wrote.begin());
}
