//===- DeviceState.h - Parameters that stay on devices ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a process that has all parameters computes on devices, its parameters stay
// on the devices. So do the slots of parameters whose optimizer rule the
// devices apply. Each device has all parameters, and applies each update. Host
// memory is then outdated until `bringToHost`. Tables may stay on devices too;
// then each device has a share of their rows.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICESTATE_H
#define PDLRT_STATE_DEVICESTATE_H

#include "pdlrt/Abi/GradientKernels.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/State/DeviceCopy.h"
#include "pdlrt/State/DeviceSums.h"
#include "pdlrt/State/SpreadTables.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// The state on devices of a model. An update consists of calls of `apply` and
/// one call of `finish`; no stage may run during an update. Not thread-safe,
/// except for the objects that `copy` returns.
class DeviceState {
public:
  /// There must be at least one device, and each must have loaded the program's
  /// kernels. At the beginning, host memory has the current values. The
  /// referenced objects must outlive this one.
  DeviceState(std::span<Device *const> devices, const Model &model);

  /// Returns the program's kernels for gradients on devices.
  const GradientKernels &kernels() const { return gradientKernels; }

  /// Returns the parameters on device `index`.
  DeviceCopy &copy(size_t index) { return *copies[index]; }

  /// Places all tables on the devices, with a share of the rows on each. An
  /// error message names a table that cannot be on devices.
  Status keepTables();
  /// Returns the tables if they are on the devices, otherwise null.
  SpreadTables *tables() const { return ownTables.get(); }

  /// Returns true if a device can apply the optimizer rule of parameter
  /// `symbol` with a gradient in device memory.
  static bool canTake(const pdl_descriptor &descriptor,
                      const GradientKernels &kernels, int32_t symbol);
  /// Returns true if the devices apply the optimizer rule of a parameter or
  /// table.
  bool applies(int32_t symbol) const;
  /// Makes gradients stay on the devices from now on. The gradients of all
  /// replicas, of which each group has `workers`, are summed there. If `across`
  /// is not null, the sum includes the gradients of other processes.
  void keepGradients(size_t replicas, size_t workers,
                     DeviceGroup *across = nullptr);
  bool takesGradient(int32_t symbol) const;

  /// Returns true if this object sums gradients of several replicas.
  bool addsGradients() const { return sums != nullptr; }
  /// Sums the gradients that are only on devices. `replicas` has the
  /// contribution of each replica to a step, with the blocks `blocks`. If
  /// `addsGradients`, call it after each step.
  Status sum(std::span<const GradientBlock> blocks,
             std::span<const PartialSum> replicas) {
    return sums->sum(blocks, replicas);
  }
  /// Returns the index of the first block whose sum is not finite; -1 if there
  /// is none. Call after `sum`.
  int32_t nonFiniteSum() const { return sums ? sums->firstNonFinite() : -1; }

  /// Returns the address on the first device of a block's sum. Returns null if
  /// there is only one replica: its gradient is the sum. Call after `sum`.
  const void *sumOf(size_t block) const {
    return sums ? sums->of(block, 0) : nullptr;
  }
  /// Computes the partial sums of the squared norm of block `block`, whose
  /// gradient is only on devices. See `DeviceCopy::partialNorms`.
  Status partialNorms(int32_t symbol, size_t block,
                      const BlockGradient &gradient, int64_t unit,
                      double weight, std::vector<double> &partials);

  /// Adds the optimizer rule of a parameter or table, for which `applies` must
  /// be true, to the work of the devices. `gradient` is that of block `block`,
  /// and must stay valid until `finish`. `scalars` are the scalars of its
  /// group, and `update` is the number of the group's update; both must be the
  /// same in all calls for this group until `finish`.
  Status apply(int32_t symbol, size_t block, const BlockGradient &gradient,
               const void *scalars, int64_t update);
  /// Waits for the work that was added. Returns a symbol to which a rule has
  /// written a number that is not finite, or -1 if there is none.
  Expected<int32_t> finish();

  /// Records that host memory has a newer value of a parameter than the
  /// devices.
  void changeOnHost(int32_t symbol);
  /// Copies values that are newer on the devices to host memory.
  Status bringToHost();
  /// Returns `merged` with all gradients of the blocks `blocks` in host memory:
  /// copies those that are only on devices. The result refers to memory of this
  /// object, and is valid until the next call.
  Expected<PartialSum> withGradients(PartialSum merged,
                                     std::span<const GradientBlock> blocks);

private:
  Status bringRows(size_t block, const GradientBlock &of,
                   BlockGradient &gradient);

  const Model &model;
  const pdl_descriptor &descriptor;
  const GradientKernels gradientKernels;
  std::vector<Device *> devices;
  std::vector<std::unique_ptr<DeviceCopy>> copies;
  /// One entry per symbol: nonzero if its host memory is outdated.
  std::vector<char> isNewer;
  bool keepsGradients = false;
  size_t replicaCount = 0;
  std::unique_ptr<SpreadTables> ownTables;
  /// Set if there are several replicas.
  std::unique_ptr<DeviceSums> sums;
  /// Host memory for gradients, by block. For tables, `gradientRows` has the
  /// address of each key's gradient.
  std::vector<AlignedBuffer> gradients, gradientRows;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESTATE_H
