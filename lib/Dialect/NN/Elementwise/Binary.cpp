//===- Binary.cpp - Elementwise ops of two operands -----------------------===//
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

// For each op: the formula of one element, and the adjoint.
//
// Adjoints handle the right operand before the left one. If a value is both
// operands of an op, cotangents are then added in reverse order of use.

/// Adds `value` to the cotangent of `operand`. `value` has the shape of the
/// op's result, so it is first summed over the dimensions that `operand`
/// repeats.
static void accumulateSum(AdjointBuilder &adjoints, Location loc, Value operand,
                          Value value) {
  adjoints.accumulate(operand,
                      sumTo(adjoints.builder(), loc, value, tensorOf(operand)));
}

Value AddOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return arith::AddFOp::create(builder, operands[0], operands[1]);
}

/// A bias has one number per column.
std::optional<PostOperation> AddOp::asPostOp(Value product) {
  auto type = tensorOf(product);
  if (getLhs() != product || getType() != type || type.getRank() != 2 ||
      getRhs().getType() !=
          RankedTensorType::get({type.getDimSize(1)}, type.getElementType()))
    return std::nullopt;
  return PostOperation{PostOp::bias, getRhs()};
}

SmallVector<Value> AddOp::getResiduals() { return {}; }

LogicalResult AddOp::buildAdjoint(AdjointBuilder &adjoints) {
  Value cotangent = adjoints.cotangent(getResult());
  for (Value operand : {getRhs(), getLhs()})
    if (adjoints.isNeeded(operand))
      accumulateSum(adjoints, getLoc(), operand, cotangent);
  return success();
}

Value SubOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return arith::SubFOp::create(builder, operands[0], operands[1]);
}

SmallVector<Value> SubOp::getResiduals() { return {}; }

LogicalResult SubOp::buildAdjoint(AdjointBuilder &adjoints) {
  Value cotangent = adjoints.cotangent(getResult());
  // Negates the sum, not the terms, because the sum has fewer elements. Both
  // ways give the same bits.
  if (adjoints.isNeeded(getRhs())) {
    OpBuilder &builder = adjoints.builder();
    Value sum = sumTo(builder, getLoc(), cotangent, tensorOf(getRhs()));
    adjoints.accumulate(getRhs(), NegOp::create(builder, getLoc(), sum));
  }
  if (adjoints.isNeeded(getLhs()))
    accumulateSum(adjoints, getLoc(), getLhs(), cotangent);
  return success();
}

Value MulOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return arith::MulFOp::create(builder, operands[0], operands[1]);
}

SmallVector<Value> MulOp::getResiduals() { return {getLhs(), getRhs()}; }

LogicalResult MulOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value cotangent = adjoints.cotangent(getResult());
  if (adjoints.isNeeded(getRhs()))
    accumulateSum(adjoints, getLoc(), getRhs(),
                  MulOp::create(builder, getLoc(), cotangent, getLhs()));
  if (adjoints.isNeeded(getLhs()))
    accumulateSum(adjoints, getLoc(), getLhs(),
                  MulOp::create(builder, getLoc(), cotangent, getRhs()));
  return success();
}

Value DivOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return arith::DivFOp::create(builder, operands[0], operands[1]);
}

SmallVector<Value> DivOp::getResiduals() { return {getRhs(), getResult()}; }

LogicalResult DivOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  // Uses d(a / b) = (da - (a / b) db) / b.
  Value quotient = DivOp::create(builder, getLoc(),
                                 adjoints.cotangent(getResult()), getRhs());
  if (adjoints.isNeeded(getRhs())) {
    Value product = MulOp::create(builder, getLoc(), quotient, getResult());
    Value sum = sumTo(builder, getLoc(), product, tensorOf(getRhs()));
    adjoints.accumulate(getRhs(), NegOp::create(builder, getLoc(), sum));
  }
  if (adjoints.isNeeded(getLhs()))
    accumulateSum(adjoints, getLoc(), getLhs(), quotient);
  return success();
}

/// Builds the adjoint of a maximum (if `greater`) or a minimum. The selected
/// operand gets the cotangent. If both operands are equal, each gets half of
/// it.
template <typename OpT>
static LogicalResult buildChoiceAdjoint(OpT op, AdjointBuilder &adjoints,
                                        bool greater) {
  OpBuilder &builder = adjoints.builder();
  Location loc = op.getLoc();
  Value cotangent = adjoints.cotangent(op.getResult());
  Value half = createNumber(builder, loc,
                            tensorOf(op.getResult()).getElementType(), 0.5);
  Value equal = EqualOp::create(builder, loc, op.getLhs(), op.getRhs());
  Value tie = MulOp::create(builder, loc, equal, half);
  auto accumulate = [&](Value operand, Value other) {
    if (!adjoints.isNeeded(operand))
      return;
    Value wins = GreaterOp::create(builder, loc, greater ? operand : other,
                                   greater ? other : operand);
    Value share = AddOp::create(builder, loc, wins, tie);
    accumulateSum(adjoints, loc, operand,
                  MulOp::create(builder, loc, cotangent, share));
  };
  accumulate(op.getRhs(), op.getLhs());
  accumulate(op.getLhs(), op.getRhs());
  return success();
}

Value MaxOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return arith::MaximumFOp::create(builder, operands[0], operands[1]);
}

SmallVector<Value> MaxOp::getResiduals() { return {getLhs(), getRhs()}; }

LogicalResult MaxOp::buildAdjoint(AdjointBuilder &adjoints) {
  return buildChoiceAdjoint(*this, adjoints, /*greater=*/true);
}

Value MinOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return arith::MinimumFOp::create(builder, operands[0], operands[1]);
}

SmallVector<Value> MinOp::getResiduals() { return {getLhs(), getRhs()}; }

LogicalResult MinOp::buildAdjoint(AdjointBuilder &adjoints) {
  return buildChoiceAdjoint(*this, adjoints, /*greater=*/false);
}

//===----------------------------------------------------------------------===//
// Comparisons, with derivative 0
//===----------------------------------------------------------------------===//

/// Returns 1 if the condition holds, else 0.
static Value truthOf(ImplicitLocOpBuilder &builder,
                     arith::CmpFPredicate condition, ValueRange operands) {
  Type type = operands[0].getType();
  Value one = createScalar(builder, type, 1);
  Value zero = createScalar(builder, type, 0);
  return selectWhere(builder, condition, operands[0], operands[1], one, zero);
}

Value EqualOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return truthOf(builder, arith::CmpFPredicate::OEQ, operands);
}

bool EqualOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> EqualOp::getResiduals() { return {}; }
LogicalResult EqualOp::buildAdjoint(AdjointBuilder &) { return success(); }

Value GreaterOp::buildScalar(ImplicitLocOpBuilder &builder,
                             ValueRange operands) {
  return truthOf(builder, arith::CmpFPredicate::OGT, operands);
}

bool GreaterOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> GreaterOp::getResiduals() { return {}; }
LogicalResult GreaterOp::buildAdjoint(AdjointBuilder &) { return success(); }

Value GreaterEqualOp::buildScalar(ImplicitLocOpBuilder &builder,
                                  ValueRange operands) {
  return truthOf(builder, arith::CmpFPredicate::OGE, operands);
}

bool GreaterEqualOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> GreaterEqualOp::getResiduals() { return {}; }
LogicalResult GreaterEqualOp::buildAdjoint(AdjointBuilder &) {
  return success();
}

Value LessOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return truthOf(builder, arith::CmpFPredicate::OLT, operands);
}

bool LessOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> LessOp::getResiduals() { return {}; }
LogicalResult LessOp::buildAdjoint(AdjointBuilder &) { return success(); }

Value LessEqualOp::buildScalar(ImplicitLocOpBuilder &builder,
                               ValueRange operands) {
  return truthOf(builder, arith::CmpFPredicate::OLE, operands);
}

bool LessEqualOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> LessEqualOp::getResiduals() { return {}; }
LogicalResult LessEqualOp::buildAdjoint(AdjointBuilder &) { return success(); }

Value NotEqualOp::buildScalar(ImplicitLocOpBuilder &builder,
                              ValueRange operands) {
  return truthOf(builder, arith::CmpFPredicate::UNE, operands);
}

bool NotEqualOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> NotEqualOp::getResiduals() { return {}; }
LogicalResult NotEqualOp::buildAdjoint(AdjointBuilder &) { return success(); }

//===----------------------------------------------------------------------===//
// Selection by a third operand
//===----------------------------------------------------------------------===//

Value SelectOp::buildScalar(ImplicitLocOpBuilder &builder,
                            ValueRange operands) {
  Value condition = operands[0];
  Value zero = createScalar(builder, condition.getType(), 0);
  return selectWhere(builder, arith::CmpFPredicate::UNE, condition, zero,
                     operands[1], operands[2]);
}

bool SelectOp::isDifferentiable(unsigned operand) { return operand != 0; }

SmallVector<Value> SelectOp::getResiduals() { return {getCondition()}; }

LogicalResult SelectOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value cotangent = adjoints.cotangent(getResult());
  Value zero = createNumber(builder, getLoc(),
                            tensorOf(getResult()).getElementType(), 0);
  if (adjoints.isNeeded(getNo()))
    accumulateSum(
        adjoints, getLoc(), getNo(),
        SelectOp::create(builder, getLoc(), getCondition(), zero, cotangent));
  if (adjoints.isNeeded(getYes()))
    accumulateSum(
        adjoints, getLoc(), getYes(),
        SelectOp::create(builder, getLoc(), getCondition(), cotangent, zero));
  return success();
}
