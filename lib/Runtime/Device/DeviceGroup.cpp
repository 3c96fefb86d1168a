//===- DeviceGroup.cpp - Collectives of devices ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Device/DeviceGroup.h"

#include "Device/GroupSockets.h"
#include "Device/HostGroup.h"
#include "pdlabi/abi/codes.h"
#include "pdlrt/Core/AlignedBuffer.h"

#include <cstring>
#include <utility>
#include <vector>

using namespace pdlrt;

DeviceGroup::~DeviceGroup() = default;

Status DeviceGroup::check() { return {}; }

void DeviceGroup::abort() {}

namespace {

class HostGroup final : public DeviceGroup {
public:
  explicit HostGroup(std::span<Device *const> devices,
                     std::unique_ptr<GroupSockets> others = nullptr)
      : devices(devices.begin(), devices.end()), others(std::move(others)) {}

  std::string describe() const override { return "memory of the host"; }
  Status gather(size_t bytes, std::span<const Part> parts) override;
  Status sum(int32_t type, int64_t count, std::span<const Part> parts) override;
  void abort() override {
    if (others)
      others->abort();
  }

private:
  /// Returns the number of devices in the group.
  size_t deviceCount() const { return others ? others->count : devices.size(); }
  /// Copies the inputs of all devices to the host, consecutively.
  Expected<char *> collect(size_t bytes, std::span<const Part> parts);
  static Status send(const void *from, size_t bytes,
                     std::span<const Part> parts);

  std::vector<Device *> devices;
  /// Connections to the other processes of the group. Null if there are none.
  std::unique_ptr<GroupSockets> others;
  /// Pinned memory of the first device. `memory` holds the inputs of all
  /// devices; `own` holds those of this process before they are sent.
  DeviceBuffer memory, own;
};

} // namespace

Expected<char *> HostGroup::collect(size_t bytes, std::span<const Part> parts) {
  const auto room = [&](DeviceBuffer &buffer, size_t count) {
    return reserve(*devices.front(), buffer, DeviceBuffer::Kind::OfHost,
                   bytes * count);
  };
  PDLRT_RETURN_IF_ERROR(room(memory, deviceCount()));
  if (others)
    PDLRT_RETURN_IF_ERROR(room(own, parts.size()));
  auto *all = static_cast<char *>(memory.data());
  char *here = others ? static_cast<char *>(own.data()) : all;
  for (size_t d = 0; d < parts.size(); ++d)
    PDLRT_RETURN_IF_ERROR(
        parts[d].stream->copyOut(here + d * bytes, parts[d].from, bytes));
  for (const Part &part : parts)
    PDLRT_RETURN_IF_ERROR(part.stream->synchronize());
  if (others)
    PDLRT_RETURN_IF_ERROR(others->gather(here, bytes, all));
  return all;
}

Status HostGroup::send(const void *from, size_t bytes,
                       std::span<const Part> parts) {
  for (const Part &part : parts)
    PDLRT_RETURN_IF_ERROR(part.stream->copyIn(part.to, from, bytes));
  // The memory is reused.
  for (const Part &part : parts)
    PDLRT_RETURN_IF_ERROR(part.stream->synchronize());
  return {};
}

Status HostGroup::gather(size_t bytes, std::span<const Part> parts) {
  const Expected<char *> all = collect(bytes, parts);
  return all ? send(*all, bytes * deviceCount(), parts) : all.status();
}

template <typename T>
static void addTo(char *sum, const char *values, int64_t count) {
  auto *to = reinterpret_cast<T *>(sum);
  auto *from = reinterpret_cast<const T *>(values);
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

Status HostGroup::sum(int32_t type, int64_t count,
                      std::span<const Part> parts) {
  const size_t bytes = size_t(count) * elementSize(type);
  const Expected<char *> all = collect(bytes, parts);
  if (!all)
    return all.status();
  for (size_t d = 1; d < deviceCount(); ++d)
    (type == PDL_F32 ? addTo<float> : addTo<double>)(*all, *all + d * bytes,
                                                     count);
  return send(*all, bytes, parts);
}

Expected<std::unique_ptr<DeviceGroup>>
Device::createGroup(std::span<Device *const> devices) {
  return createHostGroup(devices);
}

static Status isOfOneProcess() {
  return Status::failedPrecondition(
      "devices of its kind form no groups of processes");
}

Expected<std::string> Device::groupKind() const { return isOfOneProcess(); }

Expected<DeviceGroupName> Device::nameGroup() { return isOfOneProcess(); }

Expected<std::unique_ptr<DeviceGroup>>
Device::joinGroup(std::span<Device *const>, const DeviceGroupPlace &) {
  return isOfOneProcess();
}

std::unique_ptr<DeviceGroup>
pdlrt::createHostGroup(std::span<Device *const> devices) {
  return std::make_unique<HostGroup>(devices);
}

Expected<std::unique_ptr<DeviceGroup>>
pdlrt::joinHostGroup(std::span<Device *const> devices,
                     const DeviceGroupPlace &place) {
  Expected<std::unique_ptr<GroupSockets>> others =
      GroupSockets::join(place, devices.size());
  if (!others)
    return std::move(others).status();
  return std::unique_ptr<DeviceGroup>(
      std::make_unique<HostGroup>(devices, std::move(*others)));
}
