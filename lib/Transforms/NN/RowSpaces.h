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

/// Diagnoses an op of a program in phase `model`, whose functions are inlined,
/// that meets tensors whose dynamic first dimensions count different things:
/// samples, or the ids of this or that bags (RowsOpInterface). Returns which
/// tensors have rows of which bags.
mlir::FailureOr<RowsOfBags> verifyRowSpaces(nn::ProgramOp program);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_ROWSPACES_H
