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

/// Makes a training program count samples with a label outside [0, 1], for
/// losses that require labels in this range: `nn.sigmoid_cross_entropy`,
/// `nn.log_loss`, `nn.softmax_cross_entropy`, `nn.rank_loss` and
/// `nn.hinge_loss`. Adds an `nn.observe` of the metric `pdlabi::labelRangeName`
/// for labels that come from fields; the runtime warns if the metric finds any.
/// Only losses that an `nn.minimize` depends on are considered. Samples without
/// weight in it are not counted, unless weights and labels have different
/// element types. Must be called before composite ops are lowered, on programs
/// whose functions are inlined. `rowsOf` is the result of `verifyRowSpaces`.
void watchLabels(nn::ProgramOp program, const RowsOfBags &rowsOf);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_WATCHLABELS_H
