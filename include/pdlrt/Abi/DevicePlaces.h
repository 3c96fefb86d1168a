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

/// Host memory of a place: of one buffer of a step (pdl_device_place).
struct PlaceOnHost {
  /// Null if the place exists only on the device.
  void *memory;
  size_t bytes;
  /// True if stage compute writes the place.
  bool isWritten = false;
};

/// Returns the host memory of a place. `place` is a pdl_device_place, which
/// also defines the meaning of `index`. Returns an error if the size of the
/// place exceeds int64_t, or if the place is unknown.
Expected<PlaceOnHost> findPlace(const pdl_descriptor &descriptor,
                                const pdl_program &program,
                                const pdl_step_context &context, int32_t place,
                                int32_t index);

/// Part of a step's memory that grows with its batch, in bytes.
struct GrowingBytes {
  size_t ofSamples = 0;
  /// Bytes that grow with the number of distinct keys. The other member has the
  /// bytes that grow with samples, ids and values.
  size_t ofKeys = 0;

  GrowingBytes &operator+=(const GrowingBytes &other);
};

/// Returns the growing bytes of one place.
Expected<GrowingBytes> findGrowing(const pdl_descriptor &descriptor,
                                   const pdl_program &program,
                                   const pdl_step_context &context,
                                   int32_t place, int32_t index);

/// Returns the sum of the growing bytes of all places in `copies`, a map by
/// (place, index).
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

/// Returns true if the place has its final content when stage prepare has
/// ended.
bool isReadyWithPrepare(int32_t place);

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICEPLACES_H
