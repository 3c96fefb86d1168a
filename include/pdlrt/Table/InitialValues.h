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

/// Writes the `width` initial elements of one row, from Philox with key `seed`
/// and counter (key low, key high, element / 4, symbol id). A row of a table
/// uses its key; row r of a parameter uses r, and the positions of elements in
/// the row (a parameter of rank <= 1 has one row, row 0). Double-precision
/// programs get the widened single-precision value. `type`: PDL_F32 or PDL_F64.
/// Thread-safe.
void fillInitialValues(int32_t type, const pdl_initializer &initializer,
                       uint64_t seed, uint64_t symbolId, int64_t key,
                       int64_t width, void *out);

/// Sets `count` elements to `value`, rounded once to the element type.
void fillConstant(int32_t type, double value, int64_t count, void *out);

} // namespace pdlrt

#endif // PDLRT_TABLE_INITIALVALUES_H
