//===- ZeroGradient.h - What updates do without a gradient ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_ANALYSIS_ZEROGRADIENT_H
#define PDLC_ANALYSIS_ZEROGRADIENT_H

#include "pdlc/Dialect/NN/IR/NN.h"
#include <optional>

namespace pdlc {

/// The first of what `update` yields (0: the value, 1 + s: slot s, row slots
/// behind the others) that may differ from what it was although the gradient of
/// the whole row is zero; nothing if a zero gradient provably changes nothing.
/// Follows the regions and the `nn.once` that it takes scalars from, with known
/// hyper-parameters as numbers. That an unknown number may be infinite, NaN, or
/// a divisor that is zero, is left out of account; NaN that known numbers give,
/// as in 0 / 0, is not.
std::optional<unsigned> findChangeUnderZeroGradient(nn::UpdateOp update);

} // namespace pdlc

#endif // PDLC_ANALYSIS_ZEROGRADIENT_H
