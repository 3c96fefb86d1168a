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

// For each op: the formula of one element, and the adjoint.
//
// The adjoints need not check whether their operand needs a cotangent. They are
// built only for ops that depend on a trained symbol, and an op with one
// operand can do so only through that operand.

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

/// Returns 1 + value.
static Value onePlus(OpBuilder &builder, Location loc, Value value) {
  Value one = createNumber(builder, loc, tensorOf(value).getElementType(), 1);
  return AddOp::create(builder, loc, value, one);
}

/// Returns 1 - value.
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

/// Returns x (1 + y) / 2.
static Value halfTimesOnePlus(ImplicitLocOpBuilder &builder, Value x, Value y) {
  Type type = x.getType();
  Value one = createScalar(builder, type, 1);
  Value sum = arith::AddFOp::create(builder, one, y);
  Value half = createScalar(builder, type, 0.5);
  Value halved = arith::MulFOp::create(builder, x, half);
  return arith::MulFOp::create(builder, halved, sum);
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
  return halfTimesOnePlus(builder, x, math::TanhOp::create(builder, u));
}

SmallVector<Value> GeluOp::getResiduals() { return {getInput()}; }

/// Derivative of gelu: (1 + t) / 2 + x (1 - t^2) u' / 2, with t = tanh(u) and
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

//===----------------------------------------------------------------------===//
// The error function. See W. J. Cody, Rational Chebyshev approximations for the
// error function, Mathematics of Computation 23 (1969)
//===----------------------------------------------------------------------===//

// For |x| <= 0.46875, erf(x) / x is P(x^2) / Q(x^2). Coefficients are in
// descending powers.
static constexpr double kNearP[] = {
    1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2,
    3.77485237685302021e2, 3.20937758913846947e3};
static constexpr double kNearQ[] = {
    1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
    2.84423683343917062e3};
// From there up to 4, erfc(x) exp(x^2) is P(x) / Q(x).
static constexpr double kMiddleP[] = {
    2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594,
    6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
    1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3};
static constexpr double kMiddleQ[] = {1.0,
                                      1.57449261107098347e1,
                                      1.17693950891312499e2,
                                      5.37181101862009858e2,
                                      1.62138957456669019e3,
                                      3.29079923573345963e3,
                                      4.36261909014324716e3,
                                      3.43936767414372164e3,
                                      1.23033935480374942e3};
// For |x| from 4 on, erfc(x) x exp(x^2) is 1 / sqrt(pi) - y P(y) / Q(y), with y
// = 1 / x^2. There, erfc is below 2^-25.
static constexpr double kFarP[] = {
    1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
    1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4};
static constexpr double kFarQ[] = {1.0,
                                   2.56852019228982242,
                                   1.87295284992346725,
                                   5.27905102951428412e-1,
                                   6.05183413124413191e-2,
                                   2.33520497626869185e-3};
static constexpr double kOneBySqrtPi = 0.56418958354775628695;

/// Evaluates a polynomial at x by Horner's rule.
static Value polynomial(ImplicitLocOpBuilder &builder, Value x,
                        ArrayRef<double> coefficients) {
  Type type = x.getType();
  Value sum = createScalar(builder, type, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = math::FmaOp::create(builder, sum, x,
                              createScalar(builder, type, coefficient));
  return sum;
}

static Value quotient(ImplicitLocOpBuilder &builder, Value x,
                      ArrayRef<double> above, ArrayRef<double> below) {
  return arith::DivFOp::create(builder, polynomial(builder, x, above),
                               polynomial(builder, x, below));
}

/// Computes erf(x) without branches: computes all approximations, each on x
/// clamped to its range so that none overflows, and selects one.
static Value buildErf(ImplicitLocOpBuilder &builder, Value x) {
  using Predicate = arith::CmpFPredicate;
  Type type = x.getType();
  Value size = math::AbsFOp::create(builder, x);
  Value nearEnd = createScalar(builder, type, 0.46875);
  Value middleEnd = createScalar(builder, type, 4);
  // Each selection preserves NaN, because NaN is not larger than any number.
  Value within =
      selectWhere(builder, Predicate::OGT, size, nearEnd, nearEnd, x);
  Value square = arith::MulFOp::create(builder, within, within);
  Value near = arith::MulFOp::create(builder, within,
                                     quotient(builder, square, kNearP, kNearQ));

  Value middle =
      selectWhere(builder, Predicate::OGT, size, middleEnd, middleEnd, size);
  // For larger x, exp(-x^2) is 0.
  Value most = createScalar(builder, type, 30);
  Value bounded = selectWhere(builder, Predicate::OGT, size, most, most, size);
  Value far = selectWhere(builder, Predicate::OLT, bounded, middleEnd,
                          middleEnd, bounded);
  Value one = createScalar(builder, type, 1);
  Value y = arith::DivFOp::create(builder, one,
                                  arith::MulFOp::create(builder, far, far));
  Value rest =
      arith::MulFOp::create(builder, y, quotient(builder, y, kFarP, kFarQ));
  Value farFactor = arith::DivFOp::create(
      builder,
      arith::SubFOp::create(builder, createScalar(builder, type, kOneBySqrtPi),
                            rest),
      far);
  Value middleFactor = quotient(builder, middle, kMiddleP, kMiddleQ);
  Value factor = selectWhere(builder, Predicate::OGT, size, middleEnd,
                             farFactor, middleFactor);
  Value exponent = arith::NegFOp::create(
      builder, arith::MulFOp::create(builder, bounded, bounded));
  Value complement = arith::MulFOp::create(
      builder, factor, math::ExpOp::create(builder, exponent));
  Value outer = math::CopySignOp::create(
      builder, arith::SubFOp::create(builder, one, complement), x);
  return selectWhere(builder, Predicate::OGT, size, nearEnd, outer, near);
}

Value ErfOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return buildErf(builder, operands[0]);
}

SmallVector<Value> ErfOp::getResiduals() { return {getInput()}; }

/// Returns exp(-x^2) times `scale`.
static Value bell(ImplicitLocOpBuilder &builder, Value x, double scale) {
  Value square = MulOp::create(builder, x, x);
  Value exponent = NegOp::create(builder, square);
  Value number = createNumber(builder, builder.getLoc(),
                              tensorOf(x).getElementType(), scale);
  return MulOp::create(builder, ExpOp::create(builder, exponent), number);
}

LogicalResult ErfOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value slope = bell(builder, getInput(), 2 * kOneBySqrtPi);
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, adjoints.cotangent(getResult()), slope));
  return success();
}

static constexpr double kSqrtHalf = 0.70710678118654752440;

Value GeluErfOp::buildScalar(ImplicitLocOpBuilder &builder,
                             ValueRange operands) {
  Value x = operands[0];
  Value factor = createScalar(builder, x.getType(), kSqrtHalf);
  Value scaled = arith::MulFOp::create(builder, x, factor);
  return halfTimesOnePlus(builder, x, buildErf(builder, scaled));
}

SmallVector<Value> GeluErfOp::getResiduals() { return {getInput()}; }

/// Derivative: (1 + erf(x / sqrt(2))) / 2 + x exp(-x^2 / 2) / sqrt(2 pi).
LogicalResult GeluErfOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value x = getInput();
  auto number = [&](double value) {
    return createNumber(builder, getLoc(), tensorOf(x).getElementType(), value);
  };
  Value scaled = MulOp::create(builder, x, number(kSqrtHalf));
  Value twice = onePlus(builder, getLoc(), ErfOp::create(builder, scaled));
  Value share = MulOp::create(builder, twice, number(0.5));
  Value density = bell(builder, scaled, kSqrtHalf * kOneBySqrtPi);
  Value slope =
      AddOp::create(builder, share, MulOp::create(builder, x, density));
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, adjoints.cotangent(getResult()), slope));
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

Value SinOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::SinOp::create(builder, operands[0]);
}

SmallVector<Value> SinOp::getResiduals() { return {getInput()}; }

LogicalResult SinOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value slope = CosOp::create(builder, getLoc(), getInput());
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, getLoc(), adjoints.cotangent(getResult()), slope));
  return success();
}

Value CosOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::CosOp::create(builder, operands[0]);
}

SmallVector<Value> CosOp::getResiduals() { return {getInput()}; }

LogicalResult CosOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Value sine = SinOp::create(builder, getLoc(), getInput());
  Value slope = NegOp::create(builder, getLoc(), sine);
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, getLoc(), adjoints.cotangent(getResult()), slope));
  return success();
}

static Value buildSigmoid(ImplicitLocOpBuilder &builder, Value x) {
  // For f32, compiled code and runtime share one function (pdlabi/math.h). For
  // f64, compute 1 / (1 + exp(-x)).
  Type type = x.getType();
  if (type.isF32())
    return callSettled(builder, "pdlabi_sigmoidf", x);
  Value one = createScalar(builder, type, 1);
  Value negative = arith::NegFOp::create(builder, x);
  Value power = math::ExpOp::create(builder, negative);
  Value sum = arith::AddFOp::create(builder, one, power);
  return arith::DivFOp::create(builder, one, sum);
}

Value SigmoidOp::buildScalar(ImplicitLocOpBuilder &builder,
                             ValueRange operands) {
  return buildSigmoid(builder, operands[0]);
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

Value RsqrtOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  Value one = createScalar(builder, operands[0].getType(), 1);
  Value root = math::SqrtOp::create(builder, operands[0]);
  return arith::DivFOp::create(builder, one, root);
}

SmallVector<Value> RsqrtOp::getResiduals() { return {getResult()}; }

/// Derivative: -y^3 / 2 with y = 1 / sqrt(x).
LogicalResult RsqrtOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value y = getResult();
  Value half =
      createNumber(builder, getLoc(), tensorOf(y).getElementType(), -0.5);
  Value square = MulOp::create(builder, y, y);
  Value cube = MulOp::create(builder, square, y);
  Value slope = MulOp::create(builder, cube, half);
  adjoints.accumulate(getInput(),
                      MulOp::create(builder, adjoints.cotangent(y), slope));
  return success();
}

Value SoftplusOp::buildScalar(ImplicitLocOpBuilder &builder,
                              ValueRange operands) {
  Value x = operands[0];
  Value zero = createScalar(builder, x.getType(), 0);
  Value positive = arith::MaximumFOp::create(builder, x, zero);
  Value size = math::AbsFOp::create(builder, x);
  Value negative = arith::NegFOp::create(builder, size);
  Value power = math::ExpOp::create(builder, negative);
  Value rest = math::Log1pOp::create(builder, power);
  return arith::AddFOp::create(builder, positive, rest);
}

SmallVector<Value> SoftplusOp::getResiduals() { return {getInput()}; }

LogicalResult SoftplusOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value slope = SigmoidOp::create(builder, getInput());
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, adjoints.cotangent(getResult()), slope));
  return success();
}

Value SwishOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  Value gate = buildSigmoid(builder, operands[0]);
  return arith::MulFOp::create(builder, operands[0], gate);
}

SmallVector<Value> SwishOp::getResiduals() { return {getInput()}; }

/// Derivative: s (1 + x (1 - s)) with s = sigmoid(x).
LogicalResult SwishOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value gate = SigmoidOp::create(builder, getInput());
  Value rest = oneMinus(builder, getLoc(), gate);
  Value inner =
      onePlus(builder, getLoc(), MulOp::create(builder, getInput(), rest));
  Value slope = MulOp::create(builder, gate, inner);
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, adjoints.cotangent(getResult()), slope));
  return success();
}

Value HardSigmoidOp::buildScalar(ImplicitLocOpBuilder &builder,
                                 ValueRange operands) {
  Type type = operands[0].getType();
  Value six = createScalar(builder, type, 6);
  Value shifted = arith::AddFOp::create(builder, operands[0],
                                        createScalar(builder, type, 3));
  Value positive = arith::MaximumFOp::create(builder, shifted,
                                             createScalar(builder, type, 0));
  Value bounded = arith::MinimumFOp::create(builder, positive, six);
  return arith::DivFOp::create(builder, bounded, six);
}

SmallVector<Value> HardSigmoidOp::getResiduals() { return {getResult()}; }

/// Derivative: 1/6 where the result is neither 0 nor 1.
LogicalResult HardSigmoidOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value y = getResult();
  auto number = [&](double value) {
    return createNumber(builder, getLoc(), tensorOf(y).getElementType(), value);
  };
  Value above = GreaterOp::create(builder, y, number(0));
  Value below = GreaterOp::create(builder, number(1), y);
  Value inside = MulOp::create(builder, above, below);
  Value part = DivOp::create(builder, adjoints.cotangent(y), number(6));
  adjoints.accumulate(getInput(), MulOp::create(builder, part, inside));
  return success();
}

Value LeakyReluOp::buildScalar(ImplicitLocOpBuilder &builder,
                               ValueRange operands) {
  Value x = operands[0], zero = createScalar(builder, x.getType(), 0);
  Value slope =
      createScalar(builder, x.getType(), getSlope().convertToDouble());
  Value part = arith::MulFOp::create(builder, slope, x);
  return selectWhere(builder, Predicate::OGT, x, zero, x, part);
}

/// Accumulates the adjoint of an op with one operand. Its slope is 1 where the
/// operand is positive, and `otherwise` elsewhere.
static void accumulateOneOr(AdjointBuilder &adjoints, Value input, Value result,
                            Value otherwise) {
  ImplicitLocOpBuilder builder(result.getLoc(), adjoints.builder());
  Type element = tensorOf(input).getElementType();
  Value zero = createNumber(builder, builder.getLoc(), element, 0);
  Value one = createNumber(builder, builder.getLoc(), element, 1);
  Value positive = GreaterOp::create(builder, input, zero);
  Value slope = SelectOp::create(builder, positive, one, otherwise);
  adjoints.accumulate(
      input, MulOp::create(builder, adjoints.cotangent(result), slope));
}

SmallVector<Value> LeakyReluOp::getResiduals() { return {getInput()}; }

LogicalResult LeakyReluOp::buildAdjoint(AdjointBuilder &adjoints) {
  Value slope = createNumber(adjoints.builder(), getLoc(),
                             tensorOf(getInput()).getElementType(),
                             getSlope().convertToDouble());
  accumulateOneOr(adjoints, getInput(), getResult(), slope);
  return success();
}

Value EluOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  // exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2) is accurate near 0.
  Value x = operands[0];
  Type type = x.getType();
  Value zero = createScalar(builder, type, 0),
        one = createScalar(builder, type, 1);
  Value halved =
      arith::MulFOp::create(builder, x, createScalar(builder, type, 0.5));
  Value t = math::TanhOp::create(builder, halved);
  Value twice = arith::AddFOp::create(builder, t, t);
  Value rest = arith::SubFOp::create(builder, one, t);
  Value power = arith::DivFOp::create(builder, twice, rest);
  Value alpha = createScalar(builder, type, getAlpha().convertToDouble());
  Value scaled = arith::MulFOp::create(builder, alpha, power);
  return selectWhere(builder, Predicate::OGT, x, zero, x, scaled);
}

SmallVector<Value> EluOp::getResiduals() { return {getInput()}; }

LogicalResult EluOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  Value alpha =
      createNumber(builder, getLoc(), tensorOf(getInput()).getElementType(),
                   getAlpha().convertToDouble());
  Value power = ExpOp::create(builder, getInput());
  accumulateOneOr(adjoints, getInput(), getResult(),
                  MulOp::create(builder, power, alpha));
  return success();
}

Value ClampOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  Type type = operands[0].getType();
  Value lower = createScalar(builder, type, getLower().convertToDouble());
  Value upper = createScalar(builder, type, getUpper().convertToDouble());
  Value bounded = arith::MaximumFOp::create(builder, operands[0], lower);
  return arith::MinimumFOp::create(builder, bounded, upper);
}

SmallVector<Value> ClampOp::getResiduals() { return {getInput()}; }

LogicalResult ClampOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  auto number = [&](double value) {
    return createNumber(builder, getLoc(),
                        tensorOf(getInput()).getElementType(), value);
  };
  Value zero = number(0);
  Value below = GreaterOp::create(builder, number(getLower().convertToDouble()),
                                  getInput());
  Value above = GreaterOp::create(builder, getInput(),
                                  number(getUpper().convertToDouble()));
  Value kept =
      SelectOp::create(builder, below, zero, adjoints.cotangent(getResult()));
  adjoints.accumulate(getInput(), SelectOp::create(builder, above, zero, kept));
  return success();
}

Value PowOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  Type type = operands[0].getType(), wide = builder.getF64Type();
  Value base = operands[0];
  if (type != wide)
    base = arith::ExtFOp::create(builder, wide, base);
  Value exponent = createScalar(builder, wide, getExponent().convertToDouble());
  Value power = math::PowFOp::create(builder, base, exponent);
  return type == wide
             ? power
             : arith::TruncFOp::create(builder, type, power).getResult();
}

SmallVector<Value> PowOp::getResiduals() { return {getInput()}; }

/// Derivative: exponent x^(exponent - 1).
LogicalResult PowOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  const double exponent = getExponent().convertToDouble();
  // At 0, x^0 is also 1, and x^1 has slope 1.
  if (exponent == 0)
    return success();
  if (exponent == 1) {
    adjoints.accumulate(getInput(), adjoints.cotangent(getResult()));
    return success();
  }
  Value factor = createNumber(builder, getLoc(),
                              tensorOf(getInput()).getElementType(), exponent);
  Value power = PowOp::create(builder, getInput().getType(), getInput(),
                              APFloat(exponent - 1));
  Value slope = MulOp::create(builder, power, factor);
  adjoints.accumulate(
      getInput(),
      MulOp::create(builder, adjoints.cotangent(getResult()), slope));
  return success();
}

/// Returns one number per column, rounded to the element type.
static DenseElementsAttr rounded(StandardizeOp op, ArrayRef<double> numbers) {
  Type element = tensorOf(op.getInput()).getElementType();
  SmallVector<Attribute> values;
  for (double number : numbers)
    values.push_back(FloatAttr::get(element, number));
  return DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(numbers.size())}, element),
      values);
}

Value StandardizeOp::buildScalar(ImplicitLocOpBuilder &builder,
                                 ValueRange operands) {
  Value centered = arith::SubFOp::create(builder, operands[0], operands[1]);
  return arith::DivFOp::create(builder, centered, operands[2]);
}

SmallVector<DenseElementsAttr> StandardizeOp::getScalarConstants() {
  return {rounded(*this, getMean()), rounded(*this, getDeviation())};
}

SmallVector<Value> StandardizeOp::getResiduals() { return {}; }

LogicalResult StandardizeOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  // The same rounded deviations as in the op.
  Value divisor =
      ConstantOp::create(builder, getLoc(), rounded(*this, getDeviation()));
  adjoints.accumulate(getInput(),
                      DivOp::create(builder, getLoc(),
                                    adjoints.cotangent(getResult()), divisor));
  return success();
}

//===----------------------------------------------------------------------===//
// Ops that stop gradients
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

Value FloorOp::buildScalar(ImplicitLocOpBuilder &builder, ValueRange operands) {
  return math::FloorOp::create(builder, operands[0]);
}

bool FloorOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> FloorOp::getResiduals() { return {}; }
LogicalResult FloorOp::buildAdjoint(AdjointBuilder &) { return success(); }

Value StopGradientOp::buildScalar(ImplicitLocOpBuilder &, ValueRange operands) {
  return operands[0];
}

bool StopGradientOp::isDifferentiable(unsigned) { return false; }
SmallVector<Value> StopGradientOp::getResiduals() { return {}; }
LogicalResult StopGradientOp::buildAdjoint(AdjointBuilder &) {
  return success();
}

//===----------------------------------------------------------------------===//
// Broadcast; its adjoint is with those of shapes
//===----------------------------------------------------------------------===//

Value BroadcastOp::buildScalar(ImplicitLocOpBuilder &, ValueRange operands) {
  return operands[0];
}

unsigned BroadcastOp::getNumElementOperands() { return 1; }
