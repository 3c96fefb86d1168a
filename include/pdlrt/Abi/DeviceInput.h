//===- DeviceInput.h - A prepared batch on its way to a device --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICEINPUT_H
#define PDLRT_ABI_DEVICEINPUT_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/DevicePlaces.h"
#include "pdlrt/Device/Device.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace pdlrt {

/// The copies of what stage prepare left for a batch. They have a stream of
/// their own, and run while the batch before is computed. What compute asks
/// for the first time is copied then, and from then on with the others. One
/// thread at a time.
class DeviceInput {
public:
  /// All outlive it.
  DeviceInput(Device &device, const pdl_descriptor &descriptor,
              const pdl_program &program)
      : device(device), descriptor(descriptor), program(program) {}

  /// Before the host writes what the last batch was copied from.
  Status finish();
  /// After stage prepare: begins to copy. The host's memory stays until
  /// `finish`.
  Status send(const pdl_step_context &context);
  /// Before stage compute: lets what is added to `compute` wait for the copies.
  Status arrive(DeviceStream &compute);
  /// What of its memory grows with the batch, which was sent.
  Expected<GrowingBytes> growing(const pdl_step_context &context) const;
  /// In it: the copy of a place that prepare made ready.
  Expected<void *> pointerTo(const pdl_step_context &context, int32_t place,
                             int32_t index, DeviceStream &compute);

private:
  struct Copy {
    DeviceBuffer memory;
    /// Whether it is of this batch.
    bool isCurrent = false;
  };
  Status copy(const pdl_step_context &context,
              std::pair<int32_t, int32_t> place, Copy &copy, DeviceStream &by);

  Device &device;
  const pdl_descriptor &descriptor;
  const pdl_program &program;
  /// From the first batch on.
  std::unique_ptr<DeviceStream> stream;
  /// Behind the copies of a batch, until it arrives.
  std::unique_ptr<DeviceEvent> sent;
  std::map<std::pair<int32_t, int32_t>, Copy> copies;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICEINPUT_H
