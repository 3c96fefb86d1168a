//===- DeviceCopy.cpp - Parameters on one device --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceCopy.h"

#include "pdlabi/device.h"
#include "pdlabi/norm.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/State/DeviceState.h"
#include "pdlrt/State/Model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

using namespace pdlrt;

DeviceCopy::DeviceCopy(Device &device, const Model &model,
                       const DeviceState &state)
    : device(device), model(model), state(state),
      descriptor(model.descriptor()), parameters(descriptor.symbol_count),
      scalars(device, descriptor) {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s)
    parameters[s].parts.resize(1 + descriptor.symbols[s].slot_count);
}

bool DeviceCopy::takesGradient(int32_t symbol) const {
  return state.takesGradient(symbol);
}

Status DeviceCopy::reserveOnce(DeviceBuffer &memory, DeviceBuffer::Kind kind,
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

size_t DeviceCopy::partBytes(int32_t symbol, int32_t part) const {
  return size_t(model.heldElements(symbol, part)) *
         elementSize(descriptor.symbols[symbol]);
}

//===----------------------------------------------------------------------===//
// Between host and device
//===----------------------------------------------------------------------===//

Status DeviceCopy::update(int32_t symbol) {
  Parameter &parameter = parameters[symbol];
  if (parameter.isCurrent)
    return {};
  const TraceSpan span("copy parameter");
  PDLRT_RETURN_IF_ERROR(prepareStream());
  const int32_t frozen = descriptor.symbols[symbol].frozen_part;
  for (int32_t part = 0; part < int32_t(parameter.parts.size()); ++part) {
    if (part != 0 && part != frozen && !state.applies(symbol))
      continue;
    DeviceBuffer &memory = parameter.parts[part];
    const size_t bytes = partBytes(symbol, part);
    PDLRT_RETURN_IF_ERROR(
        reserveOnce(memory, DeviceBuffer::Kind::OfDevice, bytes));
    PDLRT_RETURN_IF_ERROR(
        stream->copyIn(memory.data(), model.part(symbol, part), bytes));
  }
  PDLRT_RETURN_IF_ERROR(stream->synchronize());
  parameter.isCurrent = true;
  return {};
}

Expected<void *> DeviceCopy::parameter(int32_t symbol, bool frozen) {
  const MutexLock lock(mutex);
  PDLRT_RETURN_IF_ERROR(update(symbol));
  const int32_t part = frozen ? descriptor.symbols[symbol].frozen_part : 0;
  return parameters[symbol].parts[part].data();
}

Expected<DeviceStream *> DeviceCopy::ownStream() {
  const MutexLock lock(mutex);
  PDLRT_RETURN_IF_ERROR(prepareStream());
  return stream.get();
}

void DeviceCopy::outdate(int32_t symbol) {
  const MutexLock lock(mutex);
  parameters[symbol].isCurrent = false;
}

Status DeviceCopy::bringToHost(int32_t symbol) {
  const MutexLock lock(mutex);
  Parameter &parameter = parameters[symbol];
  for (int32_t part = 0; part < int32_t(parameter.parts.size()); ++part)
    PDLRT_RETURN_IF_ERROR(stream->copyOut(model.part(symbol, part),
                                          parameter.parts[part].data(),
                                          partBytes(symbol, part)));
  return stream->synchronize();
}

Status DeviceCopy::partialNorms(int32_t type, int64_t count, int64_t unit,
                                double weight, const void *gradient,
                                std::vector<double> &partials) {
  const MutexLock lock(mutex);
  PDLRT_RETURN_IF_ERROR(prepareStream());
  const int64_t units = (count + unit - 1) / unit;
  const int64_t turns = units * PDL_DEVICE_LANES;
  const size_t bytes = size_t(turns) * sizeof(double);
  PDLRT_RETURN_IF_ERROR(
      reserve(device, lanes, DeviceBuffer::Kind::OfDevice, bytes));
  PDLRT_RETURN_IF_ERROR(
      reserve(device, lanesOnHost, DeviceBuffer::Kind::OfHost, bytes));
  const std::array arguments = {uint64_t(count), uint64_t(unit),
                                std::bit_cast<uint64_t>(weight),
                                reinterpret_cast<uint64_t>(gradient),
                                reinterpret_cast<uint64_t>(lanes.data())};
  PDLRT_RETURN_IF_ERROR(stream->launch(
      state.kernels().of(pdlabi::GradientKernel::NormLanes, type), turns,
      arguments));
  PDLRT_RETURN_IF_ERROR(
      stream->copyOut(lanesOnHost.data(), lanes.data(), bytes));
  PDLRT_RETURN_IF_ERROR(stream->synchronize());
  const auto *sums = static_cast<const double *>(lanesOnHost.data());
  partials.resize(size_t(units));
  for (int64_t u = 0; u < units; ++u)
    partials[u] = pdlabi::SquaredNormUnit::join(sums + u * PDL_DEVICE_LANES);
  return {};
}

Status DeviceCopy::copyOut(void *toHost, const void *fromDevice, size_t bytes) {
  const MutexLock lock(mutex);
  PDLRT_RETURN_IF_ERROR(prepareStream());
  PDLRT_RETURN_IF_ERROR(stream->copyOut(toHost, fromDevice, bytes));
  return stream->synchronize();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Status DeviceCopy::apply(int32_t index, const BlockGradient &gradient,
                         const void *scalarsOfGroup) {
  const MutexLock lock(mutex);
  const pdl_symbol &symbol = descriptor.symbols[index];
  Parameter &parameter = parameters[index];
  PDLRT_RETURN_IF_ERROR(prepareStream());
  PDLRT_RETURN_IF_ERROR(update(index));
  if (!std::exchange(isUpdating, true)) {
    PDLRT_RETURN_IF_ERROR(nonFinite.reserve(device, parameters.size()));
    PDLRT_RETURN_IF_ERROR(nonFinite.clear(*stream));
  }
  const Expected<const void *> sent =
      scalars.send(*stream, symbol.group, scalarsOfGroup);
  if (!sent)
    return sent.status();
  const void *values = gradient.onDevice;
  if (!values) {
    const size_t bytes = partBytes(index, 0);
    PDLRT_RETURN_IF_ERROR(
        reserveOnce(parameter.gradient, DeviceBuffer::Kind::OfDevice, bytes));
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
  give(*sent);
  give(nonFinite.onDevice(size_t(index)));
  return stream->launch(size_t(symbol.device_kernel), turns, arguments,
                        /*extraUses=*/{}, symbol.name);
}

Expected<int32_t> DeviceCopy::finish() {
  const MutexLock lock(mutex);
  if (!std::exchange(isUpdating, false))
    return -1;
  const TraceSpan span("wait for rules");
  PDLRT_RETURN_IF_ERROR(nonFinite.bringToHost(*stream));
  PDLRT_RETURN_IF_ERROR(stream->synchronize());
  scalars.endUpdate();
  return nonFinite.firstSet();
}
