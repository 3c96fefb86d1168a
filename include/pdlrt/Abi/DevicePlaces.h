//===- DevicePlaces.h - What of a step has copies on a device ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICEPLACES_H
#define PDLRT_ABI_DEVICEPLACES_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// The memory of the host behind a place of a step.
struct PlaceOnHost {
  /// Null where the device alone has it.
  void *memory;
  size_t bytes;
  /// By compute.
  bool isWritten = false;
};

/// Finds it. `place`: pdl_device_place; `index` as that says.
Expected<PlaceOnHost> findPlace(const pdl_descriptor &descriptor,
                                const pdl_program &program,
                                const pdl_step_context &context, int32_t place,
                                int32_t index);

/// Bytes of a step that grow with its batch.
struct GrowingBytes {
  size_t ofSamples = 0;
  /// With its distinct keys.
  size_t ofKeys = 0;

  GrowingBytes &operator+=(const GrowingBytes &other);
};

/// How much of a place they are.
Expected<GrowingBytes> findGrowing(const pdl_descriptor &descriptor,
                                   const pdl_program &program,
                                   const pdl_step_context &context,
                                   int32_t place, int32_t index);

/// The same of the places that `copies` has by (place, index).
template <typename Copies>
Expected<GrowingBytes>
sumGrowing(const pdl_descriptor &descriptor, const pdl_program &program,
           const pdl_step_context &context, const Copies &copies) {
  GrowingBytes sum;
  for (const auto &[place, copy] : copies) {
    const Expected<GrowingBytes> found =
        findGrowing(descriptor, program, context, place.first, place.second);
    if (!found)
      return found.status();
    sum += *found;
  }
  return sum;
}

/// Whether it is as it will be when stage prepare has ended.
bool isReadyWithPrepare(int32_t place);

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICEPLACES_H
