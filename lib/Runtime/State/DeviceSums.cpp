//===- DeviceSums.cpp - Sums of gradients on devices ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceSums.h"

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/State/DeviceCopy.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace pdlrt;
using pdlabi::GradientKernel;

static uint64_t argument(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

static char *at(const DeviceBuffer &memory, size_t offset) {
  return static_cast<char *>(memory.data()) + offset;
}

bool DeviceSums::canBe(const pdl_descriptor &descriptor,
                       const GradientKernels &kernels) {
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    if (symbol.device_kernel >= 0 &&
        !(kernels.has(GradientKernel::Add, symbol.element_type) &&
          kernels.has(GradientKernel::CheckFinite, symbol.element_type)))
      return false;
  }
  return true;
}

DeviceSums::DeviceSums(const pdl_descriptor &descriptor,
                       const GradientKernels &kernels,
                       std::span<DeviceCopy *const> copies,
                       std::span<Device *const> devices, size_t replicas,
                       size_t workers, size_t maxInBucket, DeviceGroup *across)
    : descriptor(descriptor), kernels(kernels),
      copies(copies.begin(), copies.end()),
      devices(devices.begin(), devices.end()), replicas(replicas),
      workers(workers), maxInBucket(maxInBucket), across(across),
      onDevices(devices.size()) {}

//===----------------------------------------------------------------------===//
// Work of one device
//===----------------------------------------------------------------------===//

Status DeviceSums::addTo(size_t device, int32_t type, void *sum,
                         const void *values, size_t bytes) {
  const auto count = int64_t(bytes / elementSize(type));
  const std::array arguments = {uint64_t(count), argument(values),
                                argument(sum)};
  return onDevices[device].stream->launch(kernels.of(GradientKernel::Add, type),
                                          count, arguments);
}

/// Adds the gradients of all replicas on a device in the fixed order, as
/// RunningSum does on the host. The first gradient is copied, not added to
/// zero, because 0 + -0 is not -0. `find(r)`: returns the gradient of replica
/// r, or null if it has none.
template <typename Find>
Status DeviceSums::fold(size_t device, int32_t type, size_t bytes, void *sum,
                        Find &&find) {
  OnDevice &own = onDevices[device];
  bool hasSum = false;
  for (size_t begin = 0; begin < replicas; begin += workers) {
    const void *ofGroup = nullptr;
    for (size_t r = begin; r < begin + workers; ++r) {
      const void *values = find(r);
      if (!values)
        continue;
      if (!ofGroup) {
        ofGroup = values;
        continue;
      }
      if (ofGroup != own.group.data())
        PDLRT_RETURN_IF_ERROR(own.stream->copyWithin(
            own.group.data(), std::exchange(ofGroup, own.group.data()), bytes));
      PDLRT_RETURN_IF_ERROR(
          addTo(device, type, own.group.data(), values, bytes));
    }
    if (!ofGroup)
      continue;
    PDLRT_RETURN_IF_ERROR(std::exchange(hasSum, true)
                              ? addTo(device, type, sum, ofGroup, bytes)
                              : own.stream->copyWithin(sum, ofGroup, bytes));
  }
  return {};
}

/// Checks on the first device that all sums are finite.
Status DeviceSums::checkSums(std::span<const GradientBlock> blocks) {
  OnDevice &own = onDevices.front();
  PDLRT_RETURN_IF_ERROR(nonFinite.clear(*own.stream));
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (sums[b].empty())
      continue;
    const std::array arguments = {uint64_t(blocks[b].elementCount),
                                  argument(sums[b].front()),
                                  argument(nonFinite.onDevice(b))};
    PDLRT_RETURN_IF_ERROR(own.stream->launch(
        kernels.of(GradientKernel::CheckFinite, blocks[b].elementType),
        blocks[b].elementCount, arguments));
  }
  return nonFinite.bringToHost(*own.stream);
}

//===----------------------------------------------------------------------===//
// Buckets
//===----------------------------------------------------------------------===//

Status DeviceSums::prepare(size_t blockCount, const Sizes &sizes) {
  const size_t slots = isInOrder() && devices.size() > 1 ? slotsOfDevice() : 1;
  for (size_t d = 0; d < devices.size(); ++d) {
    OnDevice &own = onDevices[d];
    Expected<DeviceStream *> stream = copies[d]->ownStream();
    if (!stream)
      return stream.status();
    own.stream = *stream;
    const auto room = [&](DeviceBuffer &memory, size_t bytes) {
      return reserve(*devices[d], memory, DeviceBuffer::Kind::OfDevice, bytes);
    };
    PDLRT_RETURN_IF_ERROR(room(own.sums, sizes.all));
    PDLRT_RETURN_IF_ERROR(room(own.group, sizes.largest));
    PDLRT_RETURN_IF_ERROR(room(own.own, slots * sizes.bucket));
    if (isInOrder() && devices.size() > 1)
      PDLRT_RETURN_IF_ERROR(
          room(own.all, devices.size() * slots * sizes.bucket));
  }
  PDLRT_RETURN_IF_ERROR(nonFinite.reserve(*devices.front(), blockCount));
  if (devices.size() > 1 && !group && !across) {
    Expected<std::unique_ptr<DeviceGroup>> created =
        devices.front()->createGroup(devices);
    if (!created)
      return std::move(created).status();
    group = std::move(*created);
    logInfo("gradients travel between devices through " + group->describe());
  }
  return {};
}

/// Each device gets all gradients.
Status DeviceSums::sumInOrder(std::span<const GradientBlock> blocks,
                              std::span<const PartialSum> parts,
                              const Bucket &bucket) {
  const size_t slots = slotsOfDevice(), count = devices.size();
  const bool isAlone = count == 1;
  const auto slotOf = [&](size_t r) { return r / count * bucket.bytes; };
  // If there is only one device, it already has all gradients.
  for (size_t r = 0; r < replicas && !isAlone; ++r)
    for (const Place &place : bucket.places) {
      const OnDevice &own = onDevices[r % count];
      if (parts[r].present)
        PDLRT_RETURN_IF_ERROR(own.stream->copyWithin(
            at(own.own, slotOf(r) + place.offset),
            parts[r].blocks[place.block].onDevice, place.bytes));
    }
  if (!isAlone) {
    std::vector<DeviceGroup::Part> all;
    for (const OnDevice &own : onDevices)
      all.push_back({own.stream, own.own.data(), own.all.data()});
    PDLRT_RETURN_IF_ERROR(group->gather(slots * bucket.bytes, all));
  }
  for (size_t d = 0; d < count; ++d)
    for (const Place &place : bucket.places)
      PDLRT_RETURN_IF_ERROR(fold(
          d, blocks[place.block].elementType, place.bytes, sums[place.block][d],
          [&](size_t r) -> const void * {
            if (!parts[r].present)
              return nullptr;
            return isAlone
                       ? parts[r].blocks[place.block].onDevice
                       : at(onDevices[d].all, r % count * slots * bucket.bytes +
                                                  slotOf(r) + place.offset);
          }));
  return {};
}

/// Sums the gradients of each device on that device, and adds these sums by a
/// collective.
Status DeviceSums::sumByGroup(std::span<const GradientBlock> blocks,
                              std::span<const PartialSum> parts,
                              const Bucket &bucket) {
  const size_t count = devices.size();
  std::vector<DeviceGroup::Part> all;
  for (size_t d = 0; d < count; ++d) {
    const OnDevice &own = onDevices[d];
    bool isAny = false;
    for (size_t r = d; r < replicas; r += count)
      isAny |= parts[r].present;
    if (!isAny)
      PDLRT_RETURN_IF_ERROR(own.stream->clear(own.own.data(), bucket.bytes));
    for (const Place &place : bucket.places)
      PDLRT_RETURN_IF_ERROR(
          fold(d, bucket.elementType, place.bytes, at(own.own, place.offset),
               [&](size_t r) -> const void * {
                 return r % count == d && parts[r].present
                            ? parts[r].blocks[place.block].onDevice
                            : nullptr;
               }));
    all.push_back({own.stream, own.own.data(), at(own.sums, bucket.offset)});
  }
  return (across ? across : group.get())
      ->sum(bucket.elementType,
            int64_t(bucket.bytes / elementSize(bucket.elementType)), all);
}

bool DeviceSums::isOurs(const GradientBlock &block, size_t index,
                        std::span<const PartialSum> parts) const {
  if (across)
    return copies.front()->takesGradient(block.symbol);
  return std::ranges::any_of(parts, [&](const PartialSum &part) {
    return part.present && part.blocks[index].onDevice &&
           !part.blocks[index].dense;
  });
}

std::vector<DeviceSums::Bucket>
DeviceSums::cutBuckets(std::span<const GradientBlock> blocks,
                       std::span<const PartialSum> parts) const {
  std::vector<Bucket> buckets;
  size_t offset = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].isTable || !isOurs(blocks[b], b, parts))
      continue;
    const size_t bytes =
        size_t(blocks[b].elementCount) * elementSize(blocks[b].elementType);
    // Aligned, so that loads are wide.
    const size_t room = (bytes + PDL_BUFFER_ALIGNMENT - 1) /
                        PDL_BUFFER_ALIGNMENT * PDL_BUFFER_ALIGNMENT;
    if (buckets.empty() || buckets.back().bytes + room > maxInBucket ||
        buckets.back().elementType != blocks[b].elementType)
      buckets.push_back({blocks[b].elementType, offset, 0, {}});
    Bucket &bucket = buckets.back();
    bucket.places.push_back({b, bucket.bytes, bytes});
    bucket.bytes += room;
    offset += room;
  }
  return buckets;
}

Status DeviceSums::sum(std::span<const GradientBlock> blocks,
                       std::span<const PartialSum> parts) {
  const TraceSpan span("sum on devices");
  const std::vector<Bucket> buckets = cutBuckets(blocks, parts);
  sums.assign(blocks.size(), {});
  nonFiniteBlock = -1;
  if (buckets.empty())
    return {};
  Sizes sizes;
  for (const Bucket &bucket : buckets) {
    sizes.all = bucket.offset + bucket.bytes;
    sizes.bucket = std::max(sizes.bucket, bucket.bytes);
    for (const Place &place : bucket.places)
      sizes.largest = std::max(sizes.largest, place.bytes);
  }
  PDLRT_RETURN_IF_ERROR(prepare(blocks.size(), sizes));
  for (const Bucket &bucket : buckets)
    for (const Place &place : bucket.places)
      for (const OnDevice &own : onDevices)
        sums[place.block].push_back(at(own.sums, bucket.offset + place.offset));
  for (const Bucket &bucket : buckets)
    PDLRT_RETURN_IF_ERROR(isInOrder() ? sumInOrder(blocks, parts, bucket)
                                      : sumByGroup(blocks, parts, bucket));
  PDLRT_RETURN_IF_ERROR(checkSums(blocks));
  for (const OnDevice &own : onDevices)
    PDLRT_RETURN_IF_ERROR(own.stream->synchronize());
  if (across)
    PDLRT_RETURN_IF_ERROR(across->check());
  nonFiniteBlock = nonFinite.firstSet();
  return {};
}
