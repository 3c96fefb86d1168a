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

/// Returns the squared norms of one contribution, by channel. For a NORM
/// channel, it is the norm of the gradients that the clip covers, each divided
/// by the sum of its weights, added in the order of (symbol, unit). `routers`,
/// by lookup of the program: the keys of the contribution's rows. Throws
/// std::bad_alloc.
std::vector<double> ownNorms(const pdl_descriptor &descriptor,
                             const ExchangeLayout &layout,
                             const PartialSum &sum,
                             std::span<const KeyRouter> routers);

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNNORMS_H
