//===- LookupIds.h - Checks of ids of lookups -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_ANALYSIS_LOOKUPIDS_H
#define PDLC_ANALYSIS_LOOKUPIDS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// Estimates the number of ids that a pull looks up per sample. A bag counts as
/// one id. Used for costs and reports.
int64_t idsPerSample(nn::PullOp pull);

/// Reports an error if the ids of `lookup` depend on values of the model (C3);
/// a note points to the op that they depend on. Also reports an error if the
/// number of ids is known too late (C4). Accepts ids that are results of calls
/// or arguments of functions, because they can be checked only after inlining.
mlir::LogicalResult verifyIdsFromFields(nn::LookupOp lookup);

/// Performs the same checks for counted ids (nn.count, C3).
mlir::LogicalResult verifyIdsFromFields(nn::CountOp count);

/// Report an op that makes rows of bags whose number of ids is known too late.
mlir::LogicalResult verifyCountedRows(BagsOpInterface op);
mlir::LogicalResult verifyCountedRows(nn::CastOp op);

} // namespace pdlc

#endif // PDLC_ANALYSIS_LOOKUPIDS_H
