//===- Storage.h - Values in 16-bit storage formats -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions between f32 and the 16-bit storage formats of tables
// (`pdl_storage`). All functions are pure or write only to their arguments;
// none allocates memory. Arrays need only be aligned to the size of their
// elements.
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

/// Returns the size in bytes of one value of type `elementType` in storage
/// format `storage`.
inline size_t storedSize(int32_t storage, int32_t elementType) {
  return storage == PDL_STORE_ELEMENT ? elementSize(elementType)
                                      : sizeof(uint16_t);
}

/// Returns the size in bytes of `count` stored values, with padding to a
/// multiple of 4, so that the data after them is aligned. The padding consists
/// of zeros.
inline size_t storedValueBytes(int32_t storage, int32_t elementType,
                               int64_t count) {
  return (size_t(count) * storedSize(storage, elementType) + 3) / 4 * 4;
}

/// Converts `count` stored values to f32, exactly.
void widenStored(int32_t storage, int64_t count, const void *stored,
                 float *out);

/// Rounds `count` values to the nearest values of the storage format, ties to
/// even. Returns true if all results are finite.
bool storeNearest(int32_t storage, int64_t count, const float *values,
                  void *out);

/// Rounds rows at random, in the storage format `storage`. Arguments and result
/// are those of `pdlabi::roundRows`.
bool storeAtRandom(int32_t storage, const pdlabi::RoundingDraws &draws,
                   int64_t rowCount, int64_t width, int64_t stride,
                   const int64_t *keys, const float *values, void *const *rows);

} // namespace pdlrt

#endif // PDLRT_KERNELS_STORAGE_H
