//===- DeviceState.h - Parameters that stay on a device ------- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where one process has all state, and computes on a device, its parameters
// stay there, and so do the slots of those whose rule the device applies. The
// host's memory is behind then, until somebody asks for what it should hold.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICESTATE_H
#define PDLRT_STATE_DEVICESTATE_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/DeviceParameters.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Device/Device.h"
#include "pdlrt/Sum/Contribution.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace pdlrt {

class Model;

/// What a device has of a model that is all here. An update is calls of `apply`
/// and one of `finish`; no stage runs meanwhile. Other calls are thread-safe.
class DeviceState final : public DeviceParameters {
public:
  /// Both outlive it; the device has loaded the program's kernels. What the
  /// model holds now is the newest.
  DeviceState(Device &device, const Model &model);

  /// Whether the device applies the rule of a parameter.
  bool applies(int32_t symbol) const;
  /// Says whether gradients may stay on the device: those of one replica, which
  /// nobody adds to others. No, to begin with.
  void keepGradients(bool isAlone) { keepsGradients = isAlone; }

  Expected<void *> parameter(int32_t symbol, bool frozen) override;
  bool takesGradient(int32_t symbol) const override;

  /// Adds the rule of a parameter, which `applies`. `scalars`: of its group,
  /// the same for all calls up to `finish`. The gradient stays until `finish`.
  Status apply(int32_t symbol, const BlockGradient &gradient,
               const void *scalars);
  /// Waits for what was added. A parameter that got a number that is not
  /// finite, -1 if none did.
  Expected<int32_t> finish();

  /// The host has written a parameter's memory.
  void changeOnHost(int32_t symbol);
  /// Writes what is newer here to the host's memory.
  Status bringToHost();
  /// The same contribution with all of its gradients on the host, of the blocks
  /// `blocks`; borrows memory of this until the next call.
  Expected<Contribution> withGradients(Contribution merged,
                                       std::span<const GradientBlock> blocks);

private:
  enum class Newest : uint8_t { Same, OnHost, OnDevice };
  struct Parameter {
    Newest newest = Newest::OnHost;
    /// The value and its slots; some may be missing.
    std::vector<DeviceBuffer> parts;
    /// Room for a gradient that comes from the host.
    DeviceBuffer gradient;
  };
  struct Scalars {
    DeviceBuffer memory, onHost;
    bool areSent = false;
  };

  // All of these with the lock.
  Status prepareStream();
  Status reserve(DeviceBuffer &memory, DeviceBuffer::Kind kind, size_t bytes);
  /// Brings a parameter where the host's is newer.
  Status update(int32_t symbol);
  Status sendScalars(int32_t group, const void *scalars);
  size_t partBytes(int32_t symbol, int32_t part) const;

  Device &device;
  const Model &model;
  const pdl_descriptor &descriptor;
  std::mutex mutex;
  /// From the first use on.
  std::unique_ptr<DeviceStream> stream;
  /// By symbol.
  std::vector<Parameter> parameters;
  /// By group.
  std::vector<Scalars> scalars;
  /// By symbol: 1 where a rule wrote what is not finite; on both sides.
  DeviceBuffer found, foundOnHost;
  /// Whether rules were added since the last `finish`.
  bool isUpdating = false;
  bool keepsGradients = false;
  /// By block.
  std::vector<AlignedBuffer> gradients;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICESTATE_H
