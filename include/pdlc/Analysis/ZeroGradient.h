//===- ZeroGradient.h - Effect of updates under a zero gradient -*- C++ -*-===//
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

/// Returns the index of the first result of `update` that may change although
/// the gradient of the whole row is zero. Index 0 is the value, 1 + s is slot
/// s; row slots come last. Returns nothing if a zero gradient provably changes
/// nothing.
///
/// The analysis follows the regions of `update` and of the `nn.once` that
/// provides its scalars. It computes with hyper-parameters that are constants,
/// and treats all other numbers as unknown. It assumes that an unknown number
/// is finite, and that an unknown divisor is not zero. NaN that results from
/// known numbers, such as 0 / 0, is taken into account.
std::optional<unsigned> findChangeUnderZeroGradient(nn::UpdateOp update);

} // namespace pdlc

#endif // PDLC_ANALYSIS_ZEROGRADIENT_H
