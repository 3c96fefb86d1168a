//===- OwnNorms.h - Norms that a sender of gradients forms ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_OWNNORMS_H
#define PDLRT_ENGINE_OWNNORMS_H

#include "pdlabi/abi.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Sum/Contribution.h"

#include <span>
#include <vector>

namespace pdlrt {

/// The squared norms of one contribution, by channel: of the gradients that the
/// clip of a NORM channel takes, each divided by the sum of its weights, added
/// in the order of (symbol, unit). `routers`, by lookup of the program: the
/// keys of the contribution's rows. Throws std::bad_alloc.
std::vector<double> ownNorms(const pdl_descriptor &descriptor,
                             const ExchangeLayout &layout,
                             const Contribution &sum,
                             std::span<const KeyRouter> routers);

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNNORMS_H
