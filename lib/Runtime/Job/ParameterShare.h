//===- ParameterShare.h - Parameters on all trainers' devices ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In modes in which trainers own parameters, each trainer may keep all
// parameters on its devices. The devices of all trainers then sum the gradients
// (docs/RationaleRT.md, "Trainers that own parameters").
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_PARAMETERSHARE_H
#define LIB_RUNTIME_JOB_PARAMETERSHARE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Device/DeviceGroup.h"
#include "pdlrt/Job/DistributedJob.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// Parameters on the devices of all trainers. Only one thread may use it.
class ParameterShare {
public:
  /// Objects that a share uses. The objects that it refers to must outlive the
  /// share.
  struct Setup {
    const pdl_descriptor &descriptor;
    const DistributedOptions &options;
    const Placement &placement;
    std::vector<Device *> devices;
    /// Sums numbers over all trainers.
    std::function<Status(std::span<int64_t> counts)> sum;
    /// Returns the error with which the job has failed, or ok if this trainer
    /// knows of none. Thread-safe.
    std::function<Status()> failure;
  };

  /// Decides together with all other trainers whether all of them keep all
  /// parameters on devices. All trainers must call this. If parameters stay
  /// with their owners, returns null, and trainers with devices log why; with
  /// `--device-sums on`, returns an error instead. With numerics strict and
  /// several trainers, always returns null.
  static Expected<std::unique_ptr<ParameterShare>> agree(Setup setup);
  ~ParameterShare();
  ParameterShare(const ParameterShare &) = delete;
  ParameterShare &operator=(const ParameterShare &) = delete;

  /// Returns the group of all trainers' devices; null if there is one trainer.
  DeviceGroup *group() const { return across.get(); }
  /// Copies the owners' initial state to `model`, which has all parameters. All
  /// trainers must call this before the first step. `ownPart`: the state of the
  /// owner in this process.
  Status fill(Model &model, const Model &ownPart);
  /// Copies the state that the owner in this process owns, with its slots, from
  /// `model` to `ownPart`.
  Status giveToOwner(const Model &model, Model &ownPart) const;

private:
  /// A range of bytes of the value (part 0) or of slot `part` - 1 of a
  /// parameter. `offset`: its offset in the whole parameter. `ownersOffset`:
  /// its offset in the memory of the owner, which holds only its own rows,
  /// without gaps.
  struct Run {
    int32_t symbol, part;
    size_t offset, ownersOffset, bytes;
  };

  ParameterShare(Setup setup, std::vector<size_t> deviceCounts)
      : setup(std::move(setup)), deviceCounts(std::move(deviceCounts)) {}
  Status join();
  std::vector<Run> runsOf(size_t trainer) const;
  Status gather(Model &model, std::span<const std::byte> own);

  const Setup setup;
  /// Number of devices of each trainer.
  const std::vector<size_t> deviceCounts;
  std::unique_ptr<DeviceGroup> across;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_PARAMETERSHARE_H
