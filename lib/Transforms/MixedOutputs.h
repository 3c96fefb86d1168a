//===- MixedOutputs.h - Outputs that mix samples ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_MIXEDOUTPUTS_H
#define LIB_TRANSFORMS_MIXEDOUTPUTS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// Warns of outputs of a frozen program that depend on an op that mixes the
/// samples of a batch. The program's composite ops are spelled out: what an op
/// does where it trains is not asked.
void warnOfMixedOutputs(nn::ProgramOp program);

} // namespace pdlc

#endif // LIB_TRANSFORMS_MIXEDOUTPUTS_H
