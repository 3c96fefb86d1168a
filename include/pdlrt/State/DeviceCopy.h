//===- DeviceCopy.h - Parameters on one device ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICECOPY_H
#define PDLRT_STATE_DEVICECOPY_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/DeviceParameters.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Device/DeviceFlags.h"
#include "pdlrt/State/DeviceScalars.h"
#include "pdlrt/Sum/PartialSum.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

class DeviceState;
class Model;

/// One device's copy of the parameters of a model. Thread-safe.
class DeviceCopy final : public DeviceParameters {
public:
  /// The referenced objects must outlive this one. The device must have loaded
  /// the program's kernels.
  DeviceCopy(Device &device, const Model &model, const DeviceState &state);

  Expected<void *> parameter(int32_t symbol, bool frozen) override;
  bool takesGradient(int32_t symbol) const override;

  /// Adds the optimizer rule of a parameter to the device's work. See
  /// `DeviceState::apply`.
  Status apply(int32_t symbol, const BlockGradient &gradient,
               const void *scalars);
  /// Waits for the work that was added. Returns a parameter to which a rule has
  /// written a number that is not finite, or -1 if there is none.
  Expected<int32_t> finish();

  /// Returns the stream to which optimizer rules are added.
  Expected<DeviceStream *> ownStream();
  /// Records that host memory has a newer value of a parameter than the device.
  void outdate(int32_t symbol);
  /// Copies a parameter to host memory.
  Status bringToHost(int32_t symbol);
  /// Computes the partial sums of the squared norm of a parameter's gradient,
  /// which is on the device. The gradient has `count` elements, is divided by
  /// `weight`, and each partial sum is of `unit` elements (pdlabi/norm.h).
  /// Waits for the result. The program must have a kernel for it.
  Status partialNorms(int32_t type, int64_t count, int64_t unit, double weight,
                      const void *gradient, std::vector<double> &partials);
  /// Copies device memory to host memory, and waits.
  Status copyOut(void *toHost, const void *fromDevice, size_t bytes);

private:
  struct Parameter {
    bool isCurrent = false;
    /// Value and slots in device memory. Some may not be allocated.
    std::vector<DeviceBuffer> parts;
    /// Memory for a gradient that comes from the host.
    DeviceBuffer gradient;
  };
  Status prepareStream() PDLRT_REQUIRES(mutex) {
    return openOnce(device, stream, "rules");
  }
  Status reserveOnce(DeviceBuffer &memory, DeviceBuffer::Kind kind,
                     size_t bytes);
  /// Copies a parameter to the device if the host's copy is newer.
  Status update(int32_t symbol) PDLRT_REQUIRES(mutex);
  size_t partBytes(int32_t symbol, int32_t part) const;

  Device &device;
  const Model &model;
  const DeviceState &state;
  const pdl_descriptor &descriptor;
  Mutex mutex;
  /// Created at the first use.
  std::unique_ptr<DeviceStream> stream PDLRT_GUARDED_BY(mutex);
  /// Indexed by symbol.
  std::vector<Parameter> parameters PDLRT_GUARDED_BY(mutex);
  DeviceScalars scalars PDLRT_GUARDED_BY(mutex);
  /// Flags by symbol: set if a rule has written a number that is not finite.
  DeviceFlags nonFinite PDLRT_GUARDED_BY(mutex);
  /// Memory for partial norms, on the device and on the host.
  DeviceBuffer lanes PDLRT_GUARDED_BY(mutex), lanesOnHost
      PDLRT_GUARDED_BY(mutex);
  /// True if rules were added since the last `finish`.
  bool isUpdating PDLRT_GUARDED_BY(mutex) = false;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICECOPY_H
