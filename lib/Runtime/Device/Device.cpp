//===- Device.cpp - Devices that run kernels ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Device/Device.h"

using namespace pdlrt;

Device::~Device() = default;
DeviceStream::~DeviceStream() = default;
DeviceEvent::~DeviceEvent() = default;

Status DeviceCode::checkLaunch(size_t kernel, size_t arguments) const {
  if (kernel >= kernels.size())
    return Status::internal("there is no kernel " + std::to_string(kernel) +
                            " in the code that was loaded");
  const DeviceKernel &called = kernels[kernel];
  if (arguments == called.arguments.size())
    return {};
  return Status::internal(std::string(called.name) + " takes " +
                          std::to_string(called.arguments.size()) +
                          " arguments, and is given " +
                          std::to_string(arguments));
}

DeviceGraph::~DeviceGraph() = default;

DeviceBuffer::DeviceBuffer(Device &device, Kind kind, void *pointer,
                           size_t bytes)
    : device(&device), kind(kind), pointer(pointer), bytes(bytes) {
  if (kind != Kind::OfDevice)
    return;
  const size_t now = device.held += bytes;
  size_t before = device.most;
  while (before < now && !device.most.compare_exchange_weak(before, now))
    ;
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  if (this != &other) {
    release();
    device = std::exchange(other.device, nullptr);
    kind = other.kind;
    pointer = std::exchange(other.pointer, nullptr);
    bytes = std::exchange(other.bytes, 0);
  }
  return *this;
}

void DeviceBuffer::release() {
  if (device && pointer) {
    if (kind == Kind::OfDevice)
      device->held -= bytes;
    device->release(kind, pointer, bytes);
  }
  device = nullptr;
  pointer = nullptr;
  bytes = 0;
}

Status pdlrt::openOnce(Device &device, std::unique_ptr<DeviceStream> &stream,
                       const char *name) {
  if (stream)
    return {};
  Expected<std::unique_ptr<DeviceStream>> created = device.createStream(name);
  if (!created)
    return std::move(created).status();
  stream = std::move(*created);
  return {};
}

Status pdlrt::reserve(Device &device, DeviceBuffer &memory,
                      DeviceBuffer::Kind kind, size_t bytes) {
  if (memory.data() && memory.size() >= bytes)
    return {};
  memory.release();
  Expected<DeviceBuffer> given = device.allocate(kind, bytes + bytes / 4);
  if (!given)
    return std::move(given).status();
  memory = std::move(*given);
  return {};
}
