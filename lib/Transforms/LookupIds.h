//===- LookupIds.h - What ids a lookup takes --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_LOOKUPIDS_H
#define LIB_TRANSFORMS_LOOKUPIDS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// How many ids a pull looks up for one sample, a bag counting as one id; an
/// estimate, for costs and reports.
int64_t idsPerSample(nn::PullOp pull);

/// Diagnoses ids that depend on values of the model (nn.lookup, C3), with a
/// note at the op that they depend on, and those that are counted too late
/// (C4). What a call returns is known only behind inlining, what a function is
/// given likewise: before, such ids pass.
mlir::LogicalResult verifyIdsFromFields(nn::LookupOp lookup);

/// The same of ids that are counted (nn.count, C3).
mlir::LogicalResult verifyIdsFromFields(nn::CountOp count);

/// Diagnoses an op that makes rows of bags which are counted too late.
mlir::LogicalResult verifyCountedRows(BagsOpInterface op);
mlir::LogicalResult verifyCountedRows(nn::CastOp op);

} // namespace pdlc

#endif // LIB_TRANSFORMS_LOOKUPIDS_H
