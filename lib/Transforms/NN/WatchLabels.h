//===- WatchLabels.h - Labels that are no probabilities ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_WATCHLABELS_H
#define LIB_TRANSFORMS_NN_WATCHLABELS_H

#include "RowSpaces.h"

namespace pdlc {

/// Makes a program that trains observe the labels from fields of losses that
/// take labels from 0 to 1 (`nn.sigmoid_cross_entropy`, `nn.log_loss`,
/// `nn.softmax_cross_entropy`, `nn.rank_loss`, `nn.hinge_loss`), by the metric
/// `pdlabi::labelRangeName`. It counts samples with a label outside of [0, 1],
/// and the runtime warns of them. Samples that the loss gives no weight
/// do not count. Must run before composite ops are spelled out, on programs
/// without calls. `rowsOf`: what `verifyRowSpaces` returned.
void watchLabels(nn::ProgramOp program, const RowsOfBags &rowsOf);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_WATCHLABELS_H
