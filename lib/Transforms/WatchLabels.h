//===- WatchLabels.h - Labels that are no probabilities ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_WATCHLABELS_H
#define LIB_TRANSFORMS_WATCHLABELS_H

#include "mlir/IR/BuiltinOps.h"

namespace pdlc {

/// Makes the programs that train observe the labels of their cross entropies
/// (`nn.sigmoid_cross_entropy`, `nn.log_loss`) that come from fields, by the
/// metric `pdlabi::labelRangeName`. It counts samples with a label outside of
/// [0, 1], and the runtime warns of them. Samples that the loss gives no weight
/// do not count. Must run before composite ops are spelled out, on programs
/// without calls.
void watchLabels(mlir::ModuleOp module);

} // namespace pdlc

#endif // LIB_TRANSFORMS_WATCHLABELS_H
