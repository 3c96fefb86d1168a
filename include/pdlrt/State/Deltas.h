//===- Deltas.h - Model deltas ----------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of mode geo. A trainer has a copy of each value, and a base:
// the value that the servers have sent last, plus the deltas that the trainer
// has sent since. Trainers and servers add a delta in the same way. So a base
// is bitwise equal to the server's value unless other trainers have changed it.
//
// All functions compute in the element type, PDL_F32 or PDL_F64. Arrays do not
// overlap.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DELTAS_H
#define PDLRT_STATE_DELTAS_H

#include <cstdint>

namespace pdlrt {

/// Computes values += deltas.
void addDeltas(int32_t type, int64_t count, const void *deltas, void *values);

/// Computes deltas = (copy - base) / divisor, then base += deltas.
void takeDeltas(int32_t type, int64_t count, const void *copy, int divisor,
                void *base, void *deltas);

/// Computes copy += values - base, then base = values. If an element of `copy`
/// is equal to its base, it becomes bitwise equal to the value.
void takeValues(int32_t type, int64_t count, const void *values, void *base,
                void *copy);

} // namespace pdlrt

#endif // PDLRT_STATE_DELTAS_H
