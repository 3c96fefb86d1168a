//===- Matmul.cpp - Adjoint of the matrix product -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointUtils.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

SmallVector<Value> MatmulOp::getResiduals() { return {getLhs(), getRhs()}; }

// For C = A B: dA = dC B^T and dB = A^T dC. If an operand is transposed, its
// gradient is computed by the transposed equation, so that no tensor has to be
// transposed in memory.
LogicalResult MatmulOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value cotangent = adjoints.cotangent(getResult());
  bool transposeLhs = getTransposeLhs(), transposeRhs = getTransposeRhs();
  if (adjoints.isNeeded(getRhs())) {
    Value gradient =
        transposeRhs ? MatmulOp::create(builder, getLoc(), cotangent, getLhs(),
                                        /*transpose_lhs=*/true, transposeLhs)
                     : MatmulOp::create(builder, getLoc(), getLhs(), cotangent,
                                        !transposeLhs, /*transpose_rhs=*/false);
    adjoints.accumulate(getRhs(), gradient);
  }
  if (adjoints.isNeeded(getLhs())) {
    Value gradient =
        transposeLhs ? MatmulOp::create(builder, getLoc(), getRhs(), cotangent,
                                        transposeRhs, /*transpose_rhs=*/true)
                     : MatmulOp::create(builder, getLoc(), cotangent, getRhs(),
                                        /*transpose_lhs=*/false, !transposeRhs);
    adjoints.accumulate(getLhs(), gradient);
  }
  return success();
}

SmallVector<Value> BatchMatmulOp::getResiduals() {
  return {getLhs(), getRhs()};
}

LogicalResult BatchMatmulOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value cotangent = adjoints.cotangent(getResult());
  const bool transposeLhs = getTransposeLhs();
  const bool transposeRhs = getTransposeRhs();
  if (adjoints.isNeeded(getRhs()))
    adjoints.accumulate(
        getRhs(),
        transposeRhs
            ? BatchMatmulOp::create(builder, cotangent, getLhs(),
                                    /*transpose_lhs=*/true, transposeLhs)
            : BatchMatmulOp::create(builder, getLhs(), cotangent, !transposeLhs,
                                    /*transpose_rhs=*/false));
  if (adjoints.isNeeded(getLhs()))
    adjoints.accumulate(
        getLhs(),
        transposeLhs
            ? BatchMatmulOp::create(builder, getRhs(), cotangent, transposeRhs,
                                    /*transpose_rhs=*/true)
            : BatchMatmulOp::create(builder, cotangent, getRhs(),
                                    /*transpose_lhs=*/false, !transposeRhs));
  return success();
}
