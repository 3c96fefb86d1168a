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

/// Sums dense gradients on the devices over all replicas, so that each device
/// has the sums. Replica r is on device r modulo the number of devices. In
/// numerics strict, each device gets all gradients, and adds them in the fixed
/// order: first over the workers of a group, then over groups. In numerics
/// fast, each device adds the gradients of its own replicas, and a collective
/// adds the results.
///
/// With a group of devices of several processes (`across`), the sums are over
/// the replicas of all processes, in the way of numerics fast. All processes
/// then sum the same blocks: all whose gradients can stay on devices. A process
/// whose replicas have no batch adds zeros.
///
/// Gradients are sent in buckets of at most `bucketBytes`. A larger gradient
/// has a bucket of its own.
class DeviceSums {
public:
  static constexpr size_t bucketBytes = size_t(32) << 20;

  /// `copies` has the copy of parameters of each device. `workers` is the
  /// number of replicas in a group. `across` is a group of devices of several
  /// processes; null if all replicas are in this process. The referenced
  /// objects must outlive this one.
  DeviceSums(const pdl_descriptor &descriptor, const GradientKernels &kernels,
             std::span<DeviceCopy *const> copies,
             std::span<Device *const> devices, size_t replicas, size_t workers,
             size_t maxInBucket = bucketBytes, DeviceGroup *across = nullptr);

  /// Returns true if the program has the kernels that this class needs.
  static bool canBe(const pdl_descriptor &descriptor,
                    const GradientKernels &kernels);

  /// Sums the blocks whose gradients are only on devices. `parts` has the
  /// contribution of each replica. Waits for the sums. Work that is added to
  /// the streams of the copies afterwards can use them.
  Status sum(std::span<const GradientBlock> blocks,
             std::span<const PartialSum> parts);

  /// Returns the address of a block's sum on a device; null if this object has
  /// not summed the block. Call after `sum`. Valid until the next call of
  /// `sum`.
  const void *of(size_t block, size_t device) const {
    return block < sums.size() && !sums[block].empty() ? sums[block][device]
                                                       : nullptr;
  }
  /// Returns the index of the first block whose sum is not finite, or -1 if
  /// there is none.
  int32_t firstNonFinite() const { return nonFiniteBlock; }

private:
  /// A block, with its position and size in its bucket in bytes.
  struct Place {
    size_t block, offset, bytes;
  };
  /// Consecutive blocks of one element type. `offset` is the position of the
  /// bucket among all sums.
  struct Bucket {
    int32_t elementType;
    size_t offset, bytes;
    std::vector<Place> places;
  };
  /// Sizes in bytes: of all sums, of the largest bucket, and of the largest
  /// block.
  struct Sizes {
    size_t all = 0, bucket = 0, largest = 0;
  };
  struct OnDevice {
    DeviceStream *stream = nullptr;
    /// `own`: the gradients of this device's replicas for a bucket. `all`: in
    /// numerics strict, those of all devices.
    DeviceBuffer own, all;
    /// `sums`: the sums of all buckets. `group`: the sum of a block over one
    /// group of replicas.
    DeviceBuffer sums, group;
  };

  /// Returns true if each device adds all gradients in the fixed order.
  bool isInOrder() const {
    return !across &&
           (descriptor.numerics == PDL_NUMERICS_STRICT || devices.size() == 1);
  }
  /// Returns the maximum number of replicas that a device has.
  size_t slotsOfDevice() const {
    return (replicas + devices.size() - 1) / devices.size();
  }
  /// Returns true if this object sums a block: if it is of a parameter, and its
  /// gradient is only on devices.
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
  /// Set if there are several devices and no other processes.
  std::unique_ptr<DeviceGroup> group;
  std::vector<OnDevice> onDevices;
  /// Addresses of sums, by block and device.
  std::vector<std::vector<void *>> sums;
  /// Flags by block: set if the sum on the first device is not finite.
  DeviceFlags nonFinite;
  int32_t nonFiniteBlock = -1;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESUMS_H
