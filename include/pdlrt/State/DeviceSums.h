//===- DeviceSums.h - Sums of gradients on devices --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICESUMS_H
#define PDLRT_STATE_DEVICESUMS_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/GradientKernels.h"
#include "pdlrt/Device/DeviceFlags.h"
#include "pdlrt/Device/DeviceGroup.h"
#include "pdlrt/Sum/PartialSum.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

class DeviceCopy;

/// Sums dense gradients on the devices. Each device gets the sums over all
/// replicas; replica r is on device r modulo their number. In numerics strict,
/// each device gets all gradients, and adds them in the fixed order: first over
/// the workers of a group, then over groups. In numerics fast, devices add
/// their own gradients, and a collective adds the results.
///
/// With a group of several processes (`across`), the sums are over all of them,
/// as in numerics fast. All processes then add the same blocks: those whose
/// gradients `copies` receive, with zeros if no replica of a process has a
/// batch.
///
/// Gradients are sent in buckets of at most `bucketBytes`, unless one gradient
/// is larger.
class DeviceSums {
public:
  static constexpr size_t bucketBytes = size_t(32) << 20;

  /// The references must outlive it. `copies`: by device. `workers`: number of
  /// replicas in a group. `across`: the group of several processes; null if
  /// there is only this one.
  DeviceSums(const pdl_descriptor &descriptor, const GradientKernels &kernels,
             std::span<DeviceCopy *const> copies,
             std::span<Device *const> devices, size_t replicas, size_t workers,
             size_t maxInBucket = bucketBytes, DeviceGroup *across = nullptr);

  /// Returns true if the program has the kernels that this class needs.
  static bool canBe(const pdl_descriptor &descriptor,
                    const GradientKernels &kernels);

  /// Sums the blocks that are only on devices, over `parts` by replica. Work
  /// added later to the streams of the copies can use the sums. Waits.
  Status sum(std::span<const GradientBlock> blocks,
             std::span<const PartialSum> parts);

  /// Returns the sum of a block on a device, after `sum`; null if this object
  /// did not sum it.
  const void *of(size_t block, size_t device) const {
    return block < sums.size() && !sums[block].empty() ? sums[block][device]
                                                       : nullptr;
  }
  /// Returns the first block whose sum is not finite, -1 if there is none.
  int32_t firstNonFinite() const { return nonFiniteBlock; }

private:
  /// A block, and its position in its bucket.
  struct Place {
    size_t block, offset, bytes;
  };
  /// Consecutive blocks of one type. `offset`: position among all sums.
  struct Bucket {
    int32_t elementType;
    size_t offset, bytes;
    std::vector<Place> places;
  };
  /// Bytes of all sums, and of the largest bucket and block.
  struct Sizes {
    size_t all = 0, bucket = 0, largest = 0;
  };
  struct OnDevice {
    DeviceStream *stream = nullptr;
    /// The device's part of a bucket, and in numerics strict the parts of all
    /// devices.
    DeviceBuffer own, all;
    /// The sums of all buckets, and the sum of a block over a group of
    /// replicas.
    DeviceBuffer sums, group;
  };

  /// Returns true if each device adds all gradients in the fixed order.
  bool isInOrder() const {
    return !across &&
           (descriptor.numerics == PDL_NUMERICS_STRICT || devices.size() == 1);
  }
  /// Returns the maximum number of replicas of a device.
  size_t slotsOfDevice() const {
    return (replicas + devices.size() - 1) / devices.size();
  }
  /// Returns true if this object sums a parameter's block.
  bool isOurs(const GradientBlock &block, size_t index,
              std::span<const PartialSum> parts) const;
  std::vector<Bucket> cutBuckets(std::span<const GradientBlock> blocks,
                                 std::span<const PartialSum> parts) const;
  Status prepare(size_t blockCount, const Sizes &sizes);
  Status sumInOrder(std::span<const GradientBlock> blocks,
                    std::span<const PartialSum> parts, const Bucket &bucket);
  Status sumByGroup(std::span<const GradientBlock> blocks,
                    std::span<const PartialSum> parts, const Bucket &bucket);
  template <typename Find>
  Status fold(size_t device, int32_t type, size_t bytes, void *sum,
              Find &&find);
  Status addTo(size_t device, int32_t type, void *sum, const void *values,
               size_t bytes);
  Status checkSums(std::span<const GradientBlock> blocks);

  const pdl_descriptor &descriptor;
  const GradientKernels &kernels;
  std::vector<DeviceCopy *> copies;
  std::vector<Device *> devices;
  const size_t replicas, workers, maxInBucket;
  DeviceGroup *const across;
  /// Only with several devices and no other processes.
  std::unique_ptr<DeviceGroup> group;
  std::vector<OnDevice> onDevices;
  /// Indexed by block and device.
  std::vector<std::vector<void *>> sums;
  /// Indexed by block: set if the sum on the first device is not finite.
  DeviceFlags nonFinite;
  int32_t nonFiniteBlock = -1;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESUMS_H
