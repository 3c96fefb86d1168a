//===- ParameterShare.h - Parameters of all trainers ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where trainers own parameters, all of them may have all parameters on their
// devices, which add the gradients (docs/RationaleRT.md, "Trainers that own
// parameters").
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

/// One thread at a time.
class ParameterShare {
public:
  /// All that these refer to outlives it.
  struct Setup {
    const pdl_descriptor &descriptor;
    const DistributedOptions &options;
    const Placement &placement;
    std::vector<Device *> devices;
    /// The sum over all trainers.
    std::function<Status(std::span<int64_t> counts)> sum;
    /// Why the job has failed, as far as this trainer knows. Any thread.
    std::function<Status()> failure;
  };

  /// Called by all trainers: null where they keep to the owners, of which a
  /// line of the log says why. An error where one of them cannot, and was told
  /// that it must.
  static Expected<std::unique_ptr<ParameterShare>> agree(Setup setup);
  ~ParameterShare();
  ParameterShare(const ParameterShare &) = delete;
  ParameterShare &operator=(const ParameterShare &) = delete;

  /// Of the devices of all trainers; null where there is one trainer.
  DeviceGroup *group() const { return across.get(); }
  /// All trainers, before the first step: fills `model`, which has all
  /// parameters, with what their owners begin with. `ownPart`: of the owner in
  /// this process.
  Status fill(Model &model, const Model &ownPart);
  /// Gives the owner in this process its part of values and slots as they are
  /// now.
  Status giveToOwner(const Model &model, Model &ownPart) const;

private:
  /// Some bytes of a part of a parameter, and where its owner has them, whose
  /// memory of a part has no gaps.
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
  /// By trainer.
  const std::vector<size_t> deviceCounts;
  std::unique_ptr<DeviceGroup> across;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_PARAMETERSHARE_H
