//===- ParameterShare.h - Parameters on all trainers' devices ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If trainers own parameters, all of them may keep all parameters on their
// devices, which then sum the gradients (docs/RationaleRT.md, "Trainers that
// own parameters").
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
  /// Context of a share. Objects to which it refers must outlive the share.
  struct Setup {
    const pdl_descriptor &descriptor;
    const DistributedOptions &options;
    const Placement &placement;
    std::vector<Device *> devices;
    /// Sums numbers over all trainers.
    std::function<Status(std::span<int64_t> counts)> sum;
    /// Returns why the job has failed, as far as this trainer knows.
    /// Thread-safe.
    std::function<Status()> failure;
  };

  /// Decides whether all trainers keep all parameters on devices. All trainers
  /// must call this. Returns null if the owners keep them; then a log line says
  /// why. Returns an error if a trainer cannot keep them but was told to.
  static Expected<std::unique_ptr<ParameterShare>> agree(Setup setup);
  ~ParameterShare();
  ParameterShare(const ParameterShare &) = delete;
  ParameterShare &operator=(const ParameterShare &) = delete;

  /// Returns the group of all trainers' devices; null if there is one trainer.
  DeviceGroup *group() const { return across.get(); }
  /// Fills `model`, which has all parameters, with the owners' initial state.
  /// All trainers must call this before the first step. `ownPart` is the state
  /// of the owner in this process.
  Status fill(Model &model, const Model &ownPart);
  /// Copies the values and slots of the parts that this process owns from
  /// `model` to `ownPart`.
  Status giveToOwner(const Model &model, Model &ownPart) const;

private:
  /// Range of bytes in a part of a parameter, and its offset in the owner's
  /// memory, which has no gaps within a part.
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
