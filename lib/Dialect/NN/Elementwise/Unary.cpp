//===- Unary.cpp - Elementwise ops of one operand -------------------------===//
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
using Predicate = arith::CmpFPredicate;

// Of each op the formula of one element, and the adjoint.
//
// Each adjoint is asked for only if the operand needs it: an op of one operand
// is on the path from a trained symbol only through that operand.

Value NegOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return arith::NegFOp::create(builder, operands[0]);
}

SmallVector<Value> NegOp::getResiduals() { return {}; }

LogicalResult NegOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      NegOp::create(adjoints.builder(), getLoc(),
                                    adjoints.cotangent(getResult())));
  return success();
}

Value AbsOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::AbsFOp::create(builder, operands[0]);
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

Value ExpOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::ExpOp::create(builder, operands[0]);
}

SmallVector<Value> ExpOp::getResiduals() { return {getResult()}; }

LogicalResult ExpOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(), MulOp::create(adjoints.builder(), getLoc(),
                                                adjoints.cotangent(getResult()),
                                                getResult()));
  return success();
}

Value LogOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::LogOp::create(builder, operands[0]);
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

Value Log1pOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::Log1pOp::create(builder, operands[0]);
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

// nn.gelu is x (1 + tanh(u)) / 2 with u = x (kGeluLinear + kGeluCubic x^2).
static constexpr double kGeluLinear = 0.79788456080286535588; // sqrt(2 / pi)
static constexpr double kGeluCubic = kGeluLinear * 0.044715;

Value GeluOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  Value x = operands[0];
  Type type = x.getType();
  Value square = arith::MulFOp::create(builder, x, x);
  Value cubic = createScalar(builder, type, kGeluCubic);
  Value scaled = arith::MulFOp::create(builder, square, cubic);
  Value linear = createScalar(builder, type, kGeluLinear);
  Value factor = arith::AddFOp::create(builder, linear, scaled);
  Value u = arith::MulFOp::create(builder, x, factor);
  Value tanh = math::TanhOp::create(builder, u);
  Value one = createScalar(builder, type, 1);
  Value sum = arith::AddFOp::create(builder, one, tanh);
  Value half = createScalar(builder, type, 0.5);
  Value halved = arith::MulFOp::create(builder, x, half);
  return arith::MulFOp::create(builder, halved, sum);
}

SmallVector<Value> GeluOp::getResiduals() { return {getInput()}; }

/// With t = tanh(u): (1 + t) / 2 + x (1 - t^2) u' / 2, where
/// u' = kGeluLinear + 3 kGeluCubic x^2.
LogicalResult GeluOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value x = getInput();
  auto number = [&](double value) {
    return createNumber(builder, getLoc(), tensorOf(x).getElementType(), value);
  };
  auto add = [&](Value a, Value b) -> Value {
    return AddOp::create(builder, a, b);
  };
  auto multiply = [&](Value a, Value b) -> Value {
    return MulOp::create(builder, a, b);
  };
  Value square = multiply(x, x);
  Value u = multiply(
      x, add(multiply(square, number(kGeluCubic)), number(kGeluLinear)));
  Value tanh = TanhOp::create(builder, u);
  Value slopeOfU =
      add(multiply(square, number(3 * kGeluCubic)), number(kGeluLinear));
  Value slopeOfTanh = oneMinus(builder, getLoc(), multiply(tanh, tanh));
  Value inner = multiply(multiply(x, slopeOfTanh), slopeOfU);
  Value twice = add(onePlus(builder, getLoc(), tanh), inner);
  Value slope = multiply(twice, number(0.5));
  adjoints.accumulate(getInput(),
                      multiply(adjoints.cotangent(getResult()), slope));
  return success();
}

Value SignedLog1pOp::buildScalar(ImplicitLocOpBuilder &builder,
                                 ValueRange operands) {
  Value size = math::AbsFOp::create(builder, operands[0]);
  Value logarithm = math::Log1pOp::create(builder, size);
  return math::CopySignOp::create(builder, logarithm, operands[0]);
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

Value SqrtOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::SqrtOp::create(builder, operands[0]);
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

Value TanhOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::TanhOp::create(builder, operands[0]);
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

Value SigmoidOp::buildScalar(ImplicitLocOpBuilder &builder,
                             ValueRange operands) {
  // f32: one source for all halves (pdlabi/math.h). f64: 1 / (1 + exp(-x)).
  Type type = operands[0].getType();
  if (type.isF32())
    return callSettled(builder, "pdlabi_sigmoidf", operands);
  Value one = createScalar(builder, type, 1);
  Value negative = arith::NegFOp::create(builder, operands[0]);
  Value power = math::ExpOp::create(builder, negative);
  Value sum = arith::AddFOp::create(builder, one, power);
  return arith::DivFOp::create(builder, one, sum);
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

Value ReluOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  Value x = operands[0], zero = createScalar(builder, x.getType(), 0);
  return selectWhere(builder, Predicate::OLE, x, zero, zero, x);
}

std::optional<PostOperation> ReluOp::asPostOp(Value) {
  return PostOperation{PostOp::relu, Value()};
}

SmallVector<Value> ReluOp::getResiduals() { return {getResult()}; }

LogicalResult ReluOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      ReluGradientOp::create(adjoints.builder(), getLoc(),
                                             adjoints.cotangent(getResult()),
                                             getResult()));
  return success();
}

Value ReluGradientOp::buildScalar(ImplicitLocOpBuilder &builder,
                                  ValueRange operands) {
  Value cotangent = operands[0], output = operands[1];
  Value zero = createScalar(builder, output.getType(), 0);
  return selectWhere(builder, Predicate::OLE, output, zero, zero, cotangent);
}

std::optional<PostOperation> ReluGradientOp::asPostOp(Value product) {
  if (getCotangent() != product || getOutput() == product)
    return std::nullopt;
  return PostOperation{PostOp::relu_gradient, getOutput()};
}

/// One number for each column, rounded to the element type.
static DenseElementsAttr rounded(StandardiseOp op, ArrayRef<double> numbers) {
  Type element = tensorOf(op.getInput()).getElementType();
  SmallVector<Attribute> values;
  for (double number : numbers)
    values.push_back(FloatAttr::get(element, number));
  return DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(numbers.size())}, element),
      values);
}

Value StandardiseOp::buildScalar(ImplicitLocOpBuilder &builder,
                                 ValueRange operands) {
  Value centred = arith::SubFOp::create(builder, operands[0], operands[1]);
  return arith::DivFOp::create(builder, centred, operands[2]);
}

SmallVector<DenseElementsAttr> StandardiseOp::getScalarConstants() {
  return {rounded(*this, getMean()), rounded(*this, getDeviation())};
}

SmallVector<Value> StandardiseOp::getResiduals() { return {}; }

LogicalResult StandardiseOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  // The same rounded deviations that the op divides by.
  Value divisor =
      ConstantOp::create(builder, getLoc(), rounded(*this, getDeviation()));
  adjoints.accumulate(getInput(),
                      DivOp::create(builder, getLoc(),
                                    adjoints.cotangent(getResult()), divisor));
  return success();
}

//===----------------------------------------------------------------------===//
// What gradients do not pass
//===----------------------------------------------------------------------===//

Value SignOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  Value x = operands[0];
  Value zero = createScalar(builder, x.getType(), 0);
  Value rest = selectWhere(builder, Predicate::UNO, x, x, x, zero);
  return signOr(builder, x, rest);
}

bool SignOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> SignOp::getResiduals() { return {}; }
LogicalResult SignOp::buildAdjoint(AdjointBuilder &) { return success(); }

Value StopGradientOp::buildScalar(ImplicitLocOpBuilder &, ValueRange operands) {
  return operands[0];
}

bool StopGradientOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> StopGradientOp::getResiduals() { return {}; }
LogicalResult StopGradientOp::buildAdjoint(AdjointBuilder &) {
  return success();
}

//===----------------------------------------------------------------------===//
// Repetition; its adjoint is beside those of shapes
//===----------------------------------------------------------------------===//

Value BroadcastOp::buildScalar(ImplicitLocOpBuilder &, ValueRange operands) {
  return operands[0];
}

unsigned BroadcastOp::getNumElementOperands() { return 1; }
