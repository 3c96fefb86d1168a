//===- DeviceInput.h - Copies a prepared batch to a device ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICEINPUT_H
#define PDLRT_ABI_DEVICEINPUT_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/DevicePlaces.h"
#include "pdlrt/Device/Device.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace pdlrt {

/// Copies the results of stage prepare for a batch to the device. A place is
/// one buffer of a step (pdl_device_place). Copies use a separate stream, and
/// run while the previous batch is computed. Only places that stage compute has
/// requested are copied: the first time when it requests them, in later batches
/// by `send`. Not thread-safe.
class DeviceInput {
public:
  /// The referenced objects must outlive this one.
  DeviceInput(Device &device, const pdl_descriptor &descriptor,
              const pdl_program &program)
      : device(device), descriptor(descriptor), program(program) {}

  /// Waits for the copies of the last batch. Call before the host overwrites
  /// its memory.
  Status finish();
  /// Starts the copies of a batch. Call after stage prepare. Host memory must
  /// stay valid until `finish`.
  Status send(const pdl_step_context &context);
  /// Makes work that is added to `compute` wait for the copies. Call before
  /// stage compute.
  Status arrive(DeviceStream &compute);
  /// Returns the size of the copied memory that grows with the batch. Call
  /// after `send`.
  Expected<GrowingBytes> growing(const pdl_step_context &context) const;
  /// Returns the device copy of a place for which `isReadyWithPrepare` is true.
  /// `index` is as in pdl_device_place. Call during stage compute.
  Expected<void *> pointerTo(const pdl_step_context &context, int32_t place,
                             int32_t index, DeviceStream &compute);

private:
  struct Copy {
    DeviceBuffer memory;
    /// True if `memory` has the data of the current batch.
    bool isCurrent = false;
  };
  Status copy(const pdl_step_context &context,
              std::pair<int32_t, int32_t> place, Copy &copy, DeviceStream &by);

  Device &device;
  const pdl_descriptor &descriptor;
  const pdl_program &program;
  /// Created with the first batch.
  std::unique_ptr<DeviceStream> stream;
  /// Recorded after the copies of a batch, until it arrives.
  std::unique_ptr<DeviceEvent> sent;
  std::map<std::pair<int32_t, int32_t>, Copy> copies;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICEINPUT_H
