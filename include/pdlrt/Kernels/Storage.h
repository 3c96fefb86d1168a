//===- Storage.h - Values in 16-bit storage formats -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions between f32 and a 16-bit storage format of tables
// (`pdl_storage`). All functions are pure or write only to their arguments;
// none allocates. Data need only be aligned to its elements.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_STORAGE_H
#define PDLRT_KERNELS_STORAGE_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/rounding.h"
#include "pdlrt/Core/AlignedBuffer.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Returns the bytes of one stored value of an element type.
inline size_t storedSize(int32_t storage, int32_t elementType) {
  return storage == PDL_STORE_ELEMENT ? elementSize(elementType)
                                      : sizeof(uint16_t);
}

/// Returns the bytes of `count` stored values, padded with zeros to a multiple
/// of 4, so that the following data is aligned.
inline size_t storedValueBytes(int32_t storage, int32_t elementType,
                               int64_t count) {
  return (size_t(count) * storedSize(storage, elementType) + 3) / 4 * 4;
}

/// Computes out[i] = stored[i], exactly.
void widenStored(int32_t storage, int64_t count, const void *stored,
                 float *out);

/// Rounds `count` values to the nearest storable ones, ties to even. Returns
/// true if all results are finite.
bool storeNearest(int32_t storage, int64_t count, const float *values,
                  void *out);

/// Calls `pdlabi::roundRows`.
bool storeAtRandom(int32_t storage, const pdlabi::RoundingDraws &draws,
                   int64_t rowCount, int64_t width, int64_t stride,
                   const int64_t *keys, const float *values, void *const *rows);

} // namespace pdlrt

#endif // PDLRT_KERNELS_STORAGE_H
