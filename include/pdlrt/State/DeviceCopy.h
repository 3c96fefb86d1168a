//===- DeviceCopy.h - The parameters on one device --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICECOPY_H
#define PDLRT_STATE_DEVICECOPY_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/DeviceParameters.h"
#include "pdlrt/Device/DeviceFlags.h"
#include "pdlrt/State/DeviceScalars.h"
#include "pdlrt/Sum/Contribution.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace pdlrt {

class DeviceState;
class Model;

/// What one device has of the parameters of a model. Thread-safe.
class DeviceCopy final : public DeviceParameters {
public:
  /// All outlive it; the device has loaded the program's kernels.
  DeviceCopy(Device &device, const Model &model, const DeviceState &state);

  Expected<void *> parameter(int32_t symbol, bool frozen) override;
  bool takesGradient(int32_t symbol) const override;

  /// Adds the rule of a parameter; see DeviceState.
  Status apply(int32_t symbol, const BlockGradient &gradient,
               const void *scalars);
  /// Waits for what was added. A parameter that got a number that is not
  /// finite, -1 if none did.
  Expected<int32_t> finish();

  /// The stream that rules are added to.
  Expected<DeviceStream *> ownStream();
  /// The host's memory of a parameter is newer.
  void outdate(int32_t symbol);
  /// Writes a parameter to the host's memory.
  Status bringToHost(int32_t symbol);
  /// Partial squared norms of a parameter's gradient on the device, divided by
  /// `weight`, of each `unit` elements of `count` (pdlabi/norm.h); waits. The
  /// program has a kernel for them.
  Status partialNorms(int32_t type, int64_t count, int64_t unit, double weight,
                      const void *gradient, std::vector<double> &partials);
  /// Copies to memory of the host, and waits.
  Status copyOut(void *toHost, const void *fromDevice, size_t bytes);

private:
  struct Parameter {
    bool isCurrent = false;
    /// The value and its slots; some may be missing.
    std::vector<DeviceBuffer> parts;
    /// Room for a gradient that comes from the host.
    DeviceBuffer gradient;
  };
  // All of these with the lock.
  Status prepareStream() { return openOnce(device, stream, "rules"); }
  Status reserveOnce(DeviceBuffer &memory, DeviceBuffer::Kind kind,
                     size_t bytes);
  /// Brings a parameter where the host's is newer.
  Status update(int32_t symbol);
  size_t partBytes(int32_t symbol, int32_t part) const;

  Device &device;
  const Model &model;
  const DeviceState &state;
  const pdl_descriptor &descriptor;
  std::mutex mutex;
  /// From the first use on.
  std::unique_ptr<DeviceStream> stream;
  /// By symbol.
  std::vector<Parameter> parameters;
  DeviceScalars scalars;
  /// By symbol: whether a rule wrote what is not finite.
  DeviceFlags nonFinite;
  /// Of partial norms; on both sides.
  DeviceBuffer lanes, lanesOnHost;
  /// Whether rules were added since the last `finish`.
  bool isUpdating = false;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICECOPY_H
