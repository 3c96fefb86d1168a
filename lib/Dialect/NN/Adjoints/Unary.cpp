//===- Unary.cpp - Adjoints of elementwise ops of one operand -------------===//
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

// Each adjoint is asked for only if the operand needs it: an op of one operand
// is on the path from a trained symbol only through that operand.

SmallVector<Value> NegOp::getResiduals() { return {}; }

LogicalResult NegOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      NegOp::create(adjoints.builder(), getLoc(),
                                    adjoints.cotangent(getResult())));
  return success();
}

SmallVector<Value> AbsOp::getResiduals() { return {getInput()}; }

LogicalResult AbsOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value sign = SignOp::create(builder, getLoc(), getInput());
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, getLoc(), adjoints.cotangent(getResult()), sign));
  return success();
}

SmallVector<Value> ExpOp::getResiduals() { return {getResult()}; }

LogicalResult ExpOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(), MulOp::create(adjoints.builder(), getLoc(),
                                                adjoints.cotangent(getResult()),
                                                getResult()));
  return success();
}

SmallVector<Value> LogOp::getResiduals() { return {getInput()}; }

LogicalResult LogOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(), DivOp::create(adjoints.builder(), getLoc(),
                                                adjoints.cotangent(getResult()),
                                                getInput()));
  return success();
}

/// 1 + value.
static Value onePlus(OpBuilder &builder, Location loc, Value value) {
  Value one = createNumber(builder, loc, tensorOf(value).getElementType(), 1);
  return AddOp::create(builder, loc, value, one);
}

/// 1 - value.
static Value oneMinus(OpBuilder &builder, Location loc, Value value) {
  Value one = createNumber(builder, loc, tensorOf(value).getElementType(), 1);
  return SubOp::create(builder, loc, one, value);
}

SmallVector<Value> Log1pOp::getResiduals() { return {getInput()}; }

LogicalResult Log1pOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value divisor = onePlus(builder, getLoc(), getInput());
  adjoints.accumulate(getInput(),
                      DivOp::create(builder, getLoc(),
                                    adjoints.cotangent(getResult()), divisor));
  return success();
}

SmallVector<Value> SignedLog1pOp::getResiduals() { return {getInput()}; }

LogicalResult SignedLog1pOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value magnitude = AbsOp::create(builder, getLoc(), getInput());
  Value divisor = onePlus(builder, getLoc(), magnitude);
  adjoints.accumulate(getInput(),
                      DivOp::create(builder, getLoc(),
                                    adjoints.cotangent(getResult()), divisor));
  return success();
}

SmallVector<Value> SqrtOp::getResiduals() { return {getResult()}; }

LogicalResult SqrtOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value twice = AddOp::create(builder, getLoc(), getResult(), getResult());
  adjoints.accumulate(
      getInput(),
      DivOp::create(builder, getLoc(), adjoints.cotangent(getResult()), twice));
  return success();
}

SmallVector<Value> TanhOp::getResiduals() { return {getResult()}; }

LogicalResult TanhOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value square = MulOp::create(builder, getLoc(), getResult(), getResult());
  Value slope = oneMinus(builder, getLoc(), square);
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, getLoc(), adjoints.cotangent(getResult()), slope));
  return success();
}

SmallVector<Value> SigmoidOp::getResiduals() { return {getResult()}; }

LogicalResult SigmoidOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value rest = oneMinus(builder, getLoc(), getResult());
  Value slope = MulOp::create(builder, getLoc(), getResult(), rest);
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, getLoc(), adjoints.cotangent(getResult()), slope));
  return success();
}

SmallVector<Value> ReluOp::getResiduals() { return {getResult()}; }

LogicalResult ReluOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      ReluGradientOp::create(adjoints.builder(), getLoc(),
                                             adjoints.cotangent(getResult()),
                                             getResult()));
  return success();
}

SmallVector<Value> StandardiseOp::getResiduals() { return {}; }

LogicalResult StandardiseOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  RankedTensorType type = tensorOf(getInput());
  // The same rounded deviations that the op divides by.
  SmallVector<Attribute> deviations;
  for (double deviation : getDeviation())
    deviations.push_back(
        builder.getFloatAttr(type.getElementType(), deviation));
  auto shape = type.getShape().take_back(1);
  Value divisor = ConstantOp::create(
      builder, getLoc(),
      DenseElementsAttr::get(
          RankedTensorType::get(shape, type.getElementType()), deviations));
  adjoints.accumulate(getInput(),
                      DivOp::create(builder, getLoc(),
                                    adjoints.cotangent(getResult()), divisor));
  return success();
}

//===----------------------------------------------------------------------===//
// What gradients do not pass
//===----------------------------------------------------------------------===//

bool SignOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> SignOp::getResiduals() { return {}; }
LogicalResult SignOp::buildAdjoint(AdjointBuilder &) { return success(); }

bool StopGradientOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> StopGradientOp::getResiduals() { return {}; }
LogicalResult StopGradientOp::buildAdjoint(AdjointBuilder &) {
  return success();
}
