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

/// Warns if an output of a frozen program depends on an op that mixes the
/// samples of a batch. The prediction for a sample then depends on the other
/// samples of its batch. Does nothing for other programs. Composite ops of the
/// program must have been lowered.
void warnOfMixedOutputs(nn::ProgramOp program);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_MIXEDOUTPUTS_H
