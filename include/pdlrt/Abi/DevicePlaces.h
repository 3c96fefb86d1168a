//===- DevicePlaces.h - Memory of a step with device copies -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICEPLACES_H
#define PDLRT_ABI_DEVICEPLACES_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// The host memory of a place of a step.
struct PlaceOnHost {
  /// Null if it exists only on the device.
  void *memory;
  size_t bytes;
  /// True if compute writes it.
  bool isWritten = false;
};

/// Returns the host memory of a place. `place`: pdl_device_place, which defines
/// `index`.
Expected<PlaceOnHost> findPlace(const pdl_descriptor &descriptor,
                                const pdl_program &program,
                                const pdl_step_context &context, int32_t place,
                                int32_t index);

/// Bytes of a step that grow with its batch.
struct GrowingBytes {
  size_t ofSamples = 0;
  /// Bytes that grow with its distinct keys.
  size_t ofKeys = 0;

  GrowingBytes &operator+=(const GrowingBytes &other);
};

/// Returns these bytes for a place.
Expected<GrowingBytes> findGrowing(const pdl_descriptor &descriptor,
                                   const pdl_program &program,
                                   const pdl_step_context &context,
                                   int32_t place, int32_t index);

/// Returns their sum over the places in `copies`, a map by (place, index).
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

/// Returns true if the place is complete when stage prepare has ended.
bool isReadyWithPrepare(int32_t place);

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICEPLACES_H
