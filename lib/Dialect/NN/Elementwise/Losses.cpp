//===- Losses.cpp - Per-sample losses -------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Adjoints/AdjointUtils.h"
#include "Formulas.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

Value SigmoidCrossEntropyOp::buildScalar(ImplicitLocOpBuilder &builder,
                                         ValueRange operands) {
  Value logit = operands[0], label = operands[1];
  Value product = arith::MulFOp::create(builder, logit, label);
  Value zero = createScalar(builder, logit.getType(), 0);
  Value positive = arith::MaximumFOp::create(builder, logit, zero);
  Value size = math::AbsFOp::create(builder, logit);
  Value negative = arith::NegFOp::create(builder, size);
  Value power = math::ExpOp::create(builder, negative);
  Value tail = math::Log1pOp::create(builder, power);
  Value linear = arith::SubFOp::create(builder, positive, product);
  return arith::AddFOp::create(builder, linear, tail);
}

SmallVector<Value> SigmoidCrossEntropyOp::getResiduals() {
  return {getLogits(), getLabels()};
}

LogicalResult SigmoidCrossEntropyOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value cotangent = adjoints.cotangent(getResult());
  if (adjoints.isNeeded(getLabels())) {
    Value product = MulOp::create(builder, getLoc(), cotangent, getLogits());
    adjoints.accumulate(getLabels(), NegOp::create(builder, getLoc(), product));
  }
  if (adjoints.isNeeded(getLogits())) {
    Value probability = SigmoidOp::create(builder, getLoc(), getLogits());
    Value error = SubOp::create(builder, getLoc(), probability, getLabels());
    adjoints.accumulate(getLogits(),
                        MulOp::create(builder, getLoc(), cotangent, error));
  }
  return success();
}

Value SquaredErrorOp::buildScalar(ImplicitLocOpBuilder &builder,
                                  ValueRange operands) {
  Value difference = arith::SubFOp::create(builder, operands[0], operands[1]);
  return arith::MulFOp::create(builder, difference, difference);
}

SmallVector<Value> SquaredErrorOp::getResiduals() {
  return {getPredictions(), getLabels()};
}

LogicalResult SquaredErrorOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value error = SubOp::create(builder, getLoc(), getPredictions(), getLabels());
  Value twice = AddOp::create(builder, getLoc(), error, error);
  Value gradient =
      MulOp::create(builder, getLoc(), adjoints.cotangent(getResult()), twice);
  if (adjoints.isNeeded(getLabels()))
    adjoints.accumulate(getLabels(),
                        NegOp::create(builder, getLoc(), gradient));
  if (adjoints.isNeeded(getPredictions()))
    adjoints.accumulate(getPredictions(), gradient);
  return success();
}
