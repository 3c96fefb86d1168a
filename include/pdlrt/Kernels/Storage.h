//===- Storage.h - Values in as many bits as a table holds ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between f32 and what a table stores of it (`pdl_storage`, one of 16 bits).
// All are pure or write only what is named; none allocates. Nothing needs more
// alignment than its elements.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_STORAGE_H
#define PDLRT_KERNELS_STORAGE_H

#include "pdlabi/abi.h"
#include "pdlabi/rounding.h"
#include "pdlrt/Core/AlignedBuffer.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Bytes of one stored value of an element type.
inline size_t storedSize(int32_t storage, int32_t elementType) {
  return storage == PDL_STORE_ELEMENT ? elementSize(elementType)
                                      : sizeof(uint16_t);
}

/// Bytes of `count` stored values, with zeros behind them to a whole word, so
/// that what follows is aligned.
inline size_t storedValueBytes(int32_t storage, int32_t elementType,
                               int64_t count) {
  return (size_t(count) * storedSize(storage, elementType) + 3) / 4 * 4;
}

/// out[i] = stored[i], exactly.
void widenStored(int32_t storage, int64_t count, const void *stored,
                 float *out);

/// Rounds `count` values to the nearest that can be stored, ties to even.
/// Whether all are finite then.
bool storeNearest(int32_t storage, int64_t count, const float *values,
                  void *out);

/// `pdlabi::roundRows`.
bool storeAtRandom(int32_t storage, const pdlabi::RoundingDraws &draws,
                   int64_t rowCount, int64_t width, int64_t stride,
                   const int64_t *keys, const float *values, void *const *rows);

} // namespace pdlrt

#endif // PDLRT_KERNELS_STORAGE_H
