//===- OwnNorms.h - Norms computed by the sender ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_OWNNORMS_H
#define PDLRT_ENGINE_OWNNORMS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Sum/PartialSum.h"

#include <span>
#include <vector>

namespace pdlrt {

/// Returns the squared norms of the gradients in `sum`, one entry per channel
/// of `layout`. The entry of a NORM channel is the squared norm of all
/// gradients that its clip covers, each divided by the sum of its weights;
/// other entries have no meaning. The squares are added in the order of
/// (symbol, unit), where a unit is a block of a parameter or a shard of a
/// table. `routers` has the keys of the rows of `sum`, by lookup of the
/// program. Throws std::bad_alloc.
std::vector<double> ownNorms(const pdl_descriptor &descriptor,
                             const ExchangeLayout &layout,
                             const PartialSum &sum,
                             std::span<const KeyRouter> routers);

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNNORMS_H
