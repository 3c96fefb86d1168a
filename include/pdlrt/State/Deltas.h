//===- Deltas.h - What copies of values have changed ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of mode geo. Beside its copy of a value a trainer keeps its
// base: what servers said last, with what the trainer has sent since. Both ends
// add a delta in the same way, so that a base is the server's value to the bit
// unless others have changed that.
//
// All in the element type, PDL_F32 or PDL_F64; arrays do not overlap.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DELTAS_H
#define PDLRT_STATE_DELTAS_H

#include <cstdint>

namespace pdlrt {

/// values += deltas.
void addDeltas(int32_t type, int64_t count, const void *deltas, void *values);

/// deltas = (copy - base) / divisor, then base += deltas.
void takeDeltas(int32_t type, int64_t count, const void *copy, int divisor,
                void *base, void *deltas);

/// copy += values - base, then base = values. A copy that is its base becomes
/// the value, to the bit.
void takeValues(int32_t type, int64_t count, const void *values, void *base,
                void *copy);

} // namespace pdlrt

#endif // PDLRT_STATE_DELTAS_H
