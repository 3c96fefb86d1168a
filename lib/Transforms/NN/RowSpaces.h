//===- RowSpaces.h - Meaning of first dimensions ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_ROWSPACES_H
#define LIB_TRANSFORMS_NN_ROWSPACES_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc {

/// The bags of each tensor whose rows are those of bags.
using RowsOfBags = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Checks that each op of a program combines only tensors whose rows are the
/// same things: samples, or the ids of the same bags (RowsOpInterface). Reports
/// an error at the first op that does not. Returns, for each tensor whose rows
/// are ids, the ragged value that they belong to. The program must be in phase
/// `model`, with its functions inlined.
mlir::FailureOr<RowsOfBags> verifyRowSpaces(nn::ProgramOp program);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_ROWSPACES_H
