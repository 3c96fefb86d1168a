//===- MixedOutputs.h - Outputs that mix samples ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_MIXEDOUTPUTS_H
#define LIB_TRANSFORMS_NN_MIXEDOUTPUTS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// Warns of outputs of a frozen program that depend on an op that mixes the
/// samples of a batch. Composite ops of the program must be lowered. The
/// behavior of ops during training is not considered.
void warnOfMixedOutputs(nn::ProgramOp program);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_MIXEDOUTPUTS_H
