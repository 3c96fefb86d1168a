//===- Finite.h - Values that are not finite --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_FINITE_H
#define PDLRT_CORE_FINITE_H

#include <cstdint>

namespace pdlrt {

/// Returns true if all elements are finite. `type`: PDL_F32 or PDL_F64.
bool allFinite(int32_t type, int64_t count, const void *values);

/// Returns the index of the first element that is not finite, or `count` if all
/// are finite. If all are finite, it is as fast as `allFinite`. `type`: PDL_F32
/// or PDL_F64.
int64_t firstNonFinite(int32_t type, int64_t count, const void *values);

/// Divides each element by `weight`, and rounds the quotient to the elements'
/// type. Returns true if all results are finite. `type`: PDL_F32 or PDL_F64.
bool allQuotientsFinite(int32_t type, int64_t count, const void *values,
                        double weight);

} // namespace pdlrt

#endif // PDLRT_CORE_FINITE_H
