//===- DeviceState.h - Parameters that stay on devices ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If one process has all state and computes on devices, its parameters stay
// there, with the slots of those whose rule the devices apply. Each device has
// all parameters, and applies each update. Host memory is then out of date
// until `bringToHost`. Tables may stay on devices too; each device then has a
// share of them.
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

/// The state on devices of a model that is completely in this process. An
/// update consists of calls of `apply` and one of `finish`; no stage may run
/// meanwhile. Not thread-safe, except for the copies.
class DeviceState {
public:
  /// The references must outlive it. There must be at least one device, and
  /// each must have loaded the program's kernels. The model's current values
  /// are the newest.
  DeviceState(std::span<Device *const> devices, const Model &model);

  /// Returns the program's kernels for gradients on devices.
  const GradientKernels &kernels() const { return gradientKernels; }

  /// Returns the parameters on device `index`.
  DeviceCopy &copy(size_t index) { return *copies[index]; }

  /// Places all tables on the devices, with some rows on each. An error names
  /// the table that cannot be there.
  Status keepTables();
  /// Returns null unless the tables are on the devices.
  SpreadTables *tables() const { return ownTables.get(); }

  /// Returns true if a program's devices can receive the gradient of a
  /// parameter and apply its rule.
  static bool canTake(const pdl_descriptor &descriptor,
                      const GradientKernels &kernels, int32_t symbol);
  /// Returns true if devices apply the rule of a parameter or table.
  bool applies(int32_t symbol) const;
  /// From now on, keeps gradients on devices: those of all replicas, `workers`
  /// in each group, are summed there. If `across` is not null, they are also
  /// summed with those of other processes.
  void keepGradients(size_t replicas, size_t workers,
                     DeviceGroup *across = nullptr);
  bool takesGradient(int32_t symbol) const;

  /// Returns true if gradients of several replicas are summed.
  bool addsGradients() const { return sums != nullptr; }
  /// Sums the gradients that are only on devices, of the blocks `blocks`. If
  /// `addsGradients`, call this after a step with the contributions of all
  /// replicas.
  Status sum(std::span<const GradientBlock> blocks,
             std::span<const PartialSum> replicas) {
    return sums->sum(blocks, replicas);
  }
  /// Returns the first block whose sum is not finite, after `sum`; -1 if there
  /// is none.
  int32_t nonFiniteSum() const { return sums ? sums->firstNonFinite() : -1; }

  /// Returns the sum of a block on the first device, after `sum`; null if there
  /// is only one replica, whose gradient is the sum.
  const void *sumOf(size_t block) const {
    return sums ? sums->of(block, 0) : nullptr;
  }
  /// Computes partial squared norms, of each `unit` elements, of a gradient
  /// that is only on devices, of block `block`.
  Status partialNorms(int32_t symbol, size_t block,
                      const BlockGradient &gradient, int64_t unit,
                      double weight, std::vector<double> &partials);

  /// Adds the rule of a parameter or table for which `applies` is true.
  /// `scalars`, `update`: those of its group, and the number of this update,
  /// the same in all calls until `finish`. The gradient, of block `block`, must
  /// stay valid until `finish`.
  Status apply(int32_t symbol, size_t block, const BlockGradient &gradient,
               const void *scalars, int64_t update);
  /// Waits for the work that was added. Returns a symbol that got a number that
  /// is not finite, -1 if there is none.
  Expected<int32_t> finish();

  /// Records that the host has written a parameter's memory.
  void changeOnHost(int32_t symbol);
  /// Copies values that are newer on devices to host memory.
  Status bringToHost();
  /// Returns the same contribution with all of its gradients on the host, of
  /// the blocks `blocks`. It borrows memory of this object until the next call.
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
  /// Indexed by symbol: nonzero if host memory is out of date.
  std::vector<char> isNewer;
  bool keepsGradients = false;
  size_t replicaCount = 0;
  std::unique_ptr<SpreadTables> ownTables;
  /// Only if there are several replicas.
  std::unique_ptr<DeviceSums> sums;
  /// Indexed by block; for tables also the address of each key's gradient.
  std::vector<AlignedBuffer> gradients, gradientRows;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESTATE_H
