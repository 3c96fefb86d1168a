//===- DeviceState.h - Parameters that stay on devices ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where one process has all state, and computes on devices, its parameters stay
// there, and so do the slots of those whose rule devices apply: each device has
// all of them, and applies each update. The host's memory is behind then, until
// somebody asks for what it should hold. So may tables, of which each has a
// share.
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

/// What devices have of a model that is all here. An update is calls of `apply`
/// and one of `finish`; no stage runs meanwhile. One thread at a time, but for
/// the copies.
class DeviceState {
public:
  /// All outlive it; the devices, at least one, have loaded the program's
  /// kernels. What the model holds now is the newest.
  DeviceState(std::span<Device *const> devices, const Model &model);

  /// What the program has for gradients on devices.
  const GradientKernels &kernels() const { return gradientKernels; }

  /// What device `index` has.
  DeviceCopy &copy(size_t index) { return *copies[index]; }

  /// Has all tables on the devices, some rows on each. An error says which
  /// cannot be there.
  Status keepTables();
  /// Null unless they are there.
  SpreadTables *tables() const { return ownTables.get(); }

  /// Whether a program's devices can take the gradient of a parameter, and
  /// apply its rule.
  static bool canTake(const pdl_descriptor &descriptor,
                      const GradientKernels &kernels, int32_t symbol);
  /// Whether devices apply the rule of a parameter or table.
  bool applies(int32_t symbol) const;
  /// Lets gradients stay on devices from now on: those of so many replicas,
  /// `workers` of each group, are added there, and with those of other
  /// processes, by `across`, if that is not null.
  void keepGradients(size_t replicas, size_t workers,
                     DeviceGroup *across = nullptr);
  bool takesGradient(int32_t symbol) const;

  /// Whether there are gradients of several replicas to be added.
  bool addsGradients() const { return sums != nullptr; }
  /// After a step, where it is so, with the contributions of all replicas: adds
  /// the gradients that are on devices alone, of the blocks `blocks`.
  Status sum(std::span<const GradientBlock> blocks,
             std::span<const Contribution> replicas) {
    return sums->sum(blocks, replicas);
  }
  /// After that: the first block whose sum is not finite, -1 if there is none.
  int32_t nonFiniteSum() const { return sums ? sums->firstNonFinite() : -1; }

  /// After `sum`: that of a block, on the first device; null where the gradient
  /// of a single replica is all.
  const void *sumOf(size_t block) const {
    return sums ? sums->of(block, 0) : nullptr;
  }
  /// Partial squared norms of a gradient that devices alone have, of block
  /// `block`, of each `unit` elements.
  Status partialNorms(int32_t symbol, size_t block,
                      const BlockGradient &gradient, int64_t unit,
                      double weight, std::vector<double> &partials);

  /// Adds the rule of a parameter or table, which `applies`. `scalars`,
  /// `update`: of its group, and the number of this update, the same for all
  /// calls up to `finish`. The gradient, of block `block`, stays until
  /// `finish`.
  Status apply(int32_t symbol, size_t block, const BlockGradient &gradient,
               const void *scalars, int64_t update);
  /// Waits for what was added. A symbol that got a number that is not finite,
  /// -1 if none did.
  Expected<int32_t> finish();

  /// The host has written a parameter's memory.
  void changeOnHost(int32_t symbol);
  /// Writes what is newer on devices to the host's memory.
  Status bringToHost();
  /// The same contribution with all of its gradients on the host, of the blocks
  /// `blocks`; borrows memory of this until the next call.
  Expected<Contribution> withGradients(Contribution merged,
                                       std::span<const GradientBlock> blocks);

private:
  Status bringRows(size_t block, const GradientBlock &of,
                   BlockGradient &gradient);

  const Model &model;
  const pdl_descriptor &descriptor;
  const GradientKernels gradientKernels;
  std::vector<Device *> devices;
  std::vector<std::unique_ptr<DeviceCopy>> copies;
  /// By symbol: whether the host's memory is behind.
  std::vector<char> isNewer;
  bool keepsGradients = false;
  size_t replicaCount = 0;
  std::unique_ptr<SpreadTables> ownTables;
  /// Where there are several replicas.
  std::unique_ptr<DeviceSums> sums;
  /// By block; of tables also where that of each key begins.
  std::vector<AlignedBuffer> gradients, gradientRows;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESTATE_H
