//===- InitialValues.h - Counter-based initial values -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_INITIALVALUES_H
#define PDLRT_TABLE_INITIALVALUES_H

#include "pdlabi/abi/symbols.h"

#include <cstdint>

namespace pdlrt {

/// Writes the `width` initial elements of one row to `out`. Random numbers come
/// from Philox with key `seed` and counter (key low, key high, element / 4,
/// symbol id), where `element` is the position in the row. `key` is the key of
/// a table's row, or the number of a parameter's row; a parameter of rank 0 or
/// 1 is one row with number 0. If `type` is PDL_F64, writes the PDL_F32 values
/// as doubles. Thread-safe.
void fillInitialValues(int32_t type, const pdl_initializer &initializer,
                       uint64_t seed, uint64_t symbolId, int64_t key,
                       int64_t width, void *out);

/// Sets `count` elements of type `type` to `value`, which is rounded to the
/// type.
void fillConstant(int32_t type, double value, int64_t count, void *out);

} // namespace pdlrt

#endif // PDLRT_TABLE_INITIALVALUES_H
