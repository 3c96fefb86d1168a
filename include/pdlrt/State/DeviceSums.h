//===- DeviceSums.h - Gradients of replicas, added on devices ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICESUMS_H
#define PDLRT_STATE_DEVICESUMS_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/GradientKernels.h"
#include "pdlrt/Device/DeviceFlags.h"
#include "pdlrt/Device/DeviceGroup.h"
#include "pdlrt/Sum/Contribution.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

class DeviceCopy;

/// Adds dense gradients where they are: each device gets the sums of all
/// replicas, of which replica r is on device r modulo their number. In numerics
/// strict it gets all gradients, and adds them in the settled order, first
/// over the workers of a group, then over groups; in fast, devices add their
/// own, and the group adds these.
///
/// Of a group of several processes (`across`) it is the sums of all of them, as
/// in numerics fast. All add the same blocks then, those that `copies` take the
/// gradients of, zeros where no replica of a process has a batch.
///
/// Gradients travel many at once, in buckets of at most `bucketBytes` unless
/// one is larger.
class DeviceSums {
public:
  static constexpr size_t bucketBytes = size_t(32) << 20;

  /// All outlive it. `copies`: by device. `workers`: replicas of a group.
  /// `across`: of several processes; null: there are no others.
  DeviceSums(const pdl_descriptor &descriptor, const GradientKernels &kernels,
             std::span<DeviceCopy *const> copies,
             std::span<Device *const> devices, size_t replicas, size_t workers,
             size_t mostInBucket = bucketBytes, DeviceGroup *across = nullptr);

  /// Whether the program has the kernels that this needs.
  static bool canBe(const pdl_descriptor &descriptor,
                    const GradientKernels &kernels);

  /// Adds, of `parts` by replica, the blocks that devices alone have. What is
  /// added later to the streams of the copies finds the sums. Waits.
  Status sum(std::span<const GradientBlock> blocks,
             std::span<const Contribution> parts);

  /// After `sum`: that of a block on a device, null of one that is not its own.
  const void *of(size_t block, size_t device) const {
    return block < sums.size() && !sums[block].empty() ? sums[block][device]
                                                       : nullptr;
  }
  /// The first block whose sum is not finite, -1 if all are.
  int32_t firstNonFinite() const { return nonFiniteBlock; }

private:
  /// A block, and where it is in its bucket.
  struct Place {
    size_t block, offset, bytes;
  };
  /// Blocks of one type, one behind the other. `offset`: among all sums.
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
    /// What it gives of a bucket, and in numerics strict what all gave.
    DeviceBuffer own, all;
    /// The sums of all buckets, and a block's of a group of replicas.
    DeviceBuffer sums, group;
  };

  /// Whether each device adds all in the settled order.
  bool isInOrder() const {
    return !across &&
           (descriptor.numerics == PDL_NUMERICS_STRICT || devices.size() == 1);
  }
  /// Replicas of a device, the most.
  size_t slotsOfDevice() const {
    return (replicas + devices.size() - 1) / devices.size();
  }
  /// Whether it adds a parameter's block.
  bool isOurs(const GradientBlock &block, size_t index,
              std::span<const Contribution> parts) const;
  std::vector<Bucket> cutBuckets(std::span<const GradientBlock> blocks,
                                 std::span<const Contribution> parts) const;
  Status prepare(size_t blockCount, const Sizes &sizes);
  Status sumInOrder(std::span<const GradientBlock> blocks,
                    std::span<const Contribution> parts, const Bucket &bucket);
  Status sumByGroup(std::span<const GradientBlock> blocks,
                    std::span<const Contribution> parts, const Bucket &bucket);
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
  const size_t replicas, workers, mostInBucket;
  DeviceGroup *const across;
  /// Where there are several devices, and no other processes.
  std::unique_ptr<DeviceGroup> group;
  std::vector<OnDevice> onDevices;
  /// By block and device.
  std::vector<std::vector<void *>> sums;
  /// By block: whether the sum is not finite. Of the first device.
  DeviceFlags nonFinite;
  int32_t nonFiniteBlock = -1;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESUMS_H
