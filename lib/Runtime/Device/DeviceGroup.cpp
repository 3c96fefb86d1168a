//===- DeviceGroup.cpp - What devices do together, by the host ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Device/DeviceGroup.h"

#include "pdlabi/abi.h"
#include "pdlrt/Core/AlignedBuffer.h"

#include <cstring>
#include <vector>

using namespace pdlrt;

DeviceGroup::~DeviceGroup() = default;

namespace {

class HostGroup final : public DeviceGroup {
public:
  explicit HostGroup(std::span<Device *const> devices)
      : devices(devices.begin(), devices.end()) {}

  std::string describe() const override { return "memory of the host"; }
  Status gather(size_t bytes, std::span<const Part> parts) override;
  Status sum(int32_t type, int64_t count, std::span<const Part> parts) override;

private:
  /// Brings what all give to the host, one behind the other.
  Expected<char *> collect(size_t bytes, std::span<const Part> parts);
  static Status send(const void *from, size_t bytes,
                     std::span<const Part> parts);

  std::vector<Device *> devices;
  /// Of the first device, whose copies run fast.
  DeviceBuffer memory;
};

} // namespace

Expected<char *> HostGroup::collect(size_t bytes, std::span<const Part> parts) {
  PDLRT_RETURN_IF_ERROR(reserve(*devices.front(), memory,
                                DeviceBuffer::Kind::OfHost,
                                bytes * parts.size()));
  auto *all = static_cast<char *>(memory.data());
  for (size_t d = 0; d < parts.size(); ++d)
    PDLRT_RETURN_IF_ERROR(
        parts[d].stream->copyOut(all + d * bytes, parts[d].from, bytes));
  for (const Part &part : parts)
    PDLRT_RETURN_IF_ERROR(part.stream->synchronize());
  return all;
}

Status HostGroup::send(const void *from, size_t bytes,
                       std::span<const Part> parts) {
  for (const Part &part : parts)
    PDLRT_RETURN_IF_ERROR(part.stream->copyIn(part.to, from, bytes));
  // The memory is used again.
  for (const Part &part : parts)
    PDLRT_RETURN_IF_ERROR(part.stream->synchronize());
  return {};
}

Status HostGroup::gather(size_t bytes, std::span<const Part> parts) {
  const Expected<char *> all = collect(bytes, parts);
  return all ? send(*all, bytes * parts.size(), parts) : all.status();
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
  for (size_t d = 1; d < parts.size(); ++d)
    (type == PDL_F32 ? addTo<float> : addTo<double>)(*all, *all + d * bytes,
                                                     count);
  return send(*all, bytes, parts);
}

Expected<std::unique_ptr<DeviceGroup>>
Device::createGroup(std::span<Device *const> devices) {
  return createHostGroup(devices);
}

std::unique_ptr<DeviceGroup>
pdlrt::createHostGroup(std::span<Device *const> devices) {
  return std::make_unique<HostGroup>(devices);
}
