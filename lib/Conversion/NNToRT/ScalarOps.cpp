//===- ScalarOps.cpp - Elementwise ops on scalars -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc;

/// `condition(a, b) ? yes : no`.
static Value select(ImplicitLocOpBuilder &builder,
                    arith::CmpFPredicate condition, Value a, Value b, Value yes,
                    Value no) {
  Value holds = arith::CmpFOp::create(builder, condition, a, b);
  return arith::SelectOp::create(builder, holds, yes, no);
}

/// f32: one source for all halves (pdlabi/math.h). f64: 1 / (1 + exp(-x)).
static Value emitSigmoid(StageEmitter &emitter, Value x) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  Type type = x.getType();
  if (type.isF32())
    return func::CallOp::create(
               builder,
               emitter.module.declare("pdlabi_sigmoidf",
                                      builder.getFunctionType(type, type)),
               x)
        .getResult(0);
  Value one = emitter.scalar(type, 1);
  Value power = math::ExpOp::create(builder, arith::NegFOp::create(builder, x));
  Value sum = arith::AddFOp::create(builder, one, power);
  return arith::DivFOp::create(builder, one, sum);
}

Value pdlc::emitScalar(StageEmitter &emitter, Operation *op,
                       ValueRange operands) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  Value x = operands[0], y = operands.size() > 1 ? operands[1] : Value();
  Type type = x.getType();
  auto zero = [&] { return emitter.scalar(type, 0); };
  auto one = [&] { return emitter.scalar(type, 1); };
  using Predicate = arith::CmpFPredicate;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<nn::NegOp>([&](auto) { return arith::NegFOp::create(builder, x); })
      .Case<nn::AbsOp>([&](auto) { return math::AbsFOp::create(builder, x); })
      .Case<nn::SignOp>([&](auto) {
        Value rest = select(builder, Predicate::UNO, x, x, x, zero());
        Value negative = select(builder, Predicate::OLT, x, zero(),
                                emitter.scalar(type, -1), rest);
        return select(builder, Predicate::OGT, x, zero(), one(), negative);
      })
      .Case<nn::ExpOp>([&](auto) { return math::ExpOp::create(builder, x); })
      .Case<nn::LogOp>([&](auto) { return math::LogOp::create(builder, x); })
      .Case<nn::Log1pOp>(
          [&](auto) { return math::Log1pOp::create(builder, x); })
      .Case<nn::SqrtOp>([&](auto) { return math::SqrtOp::create(builder, x); })
      .Case<nn::TanhOp>([&](auto) { return math::TanhOp::create(builder, x); })
      .Case<nn::SigmoidOp>([&](auto) { return emitSigmoid(emitter, x); })
      .Case<nn::ReluOp>([&](auto) {
        return select(builder, Predicate::OLE, x, zero(), zero(), x);
      })
      .Case<nn::SignedLog1pOp>([&](auto) {
        Value size = math::AbsFOp::create(builder, x);
        Value logarithm = math::Log1pOp::create(builder, size);
        return math::CopySignOp::create(builder, logarithm, x);
      })
      .Case<nn::StopGradientOp, nn::BroadcastOp>([&](auto) { return x; })
      .Case<nn::AddOp>(
          [&](auto) { return arith::AddFOp::create(builder, x, y); })
      .Case<nn::SubOp>(
          [&](auto) { return arith::SubFOp::create(builder, x, y); })
      .Case<nn::MulOp>(
          [&](auto) { return arith::MulFOp::create(builder, x, y); })
      .Case<nn::DivOp>(
          [&](auto) { return arith::DivFOp::create(builder, x, y); })
      .Case<nn::MaxOp>(
          [&](auto) { return arith::MaximumFOp::create(builder, x, y); })
      .Case<nn::MinOp>(
          [&](auto) { return arith::MinimumFOp::create(builder, x, y); })
      .Case<nn::EqualOp>([&](auto) {
        return select(builder, Predicate::OEQ, x, y, one(), zero());
      })
      .Case<nn::GreaterOp>([&](auto) {
        return select(builder, Predicate::OGT, x, y, one(), zero());
      })
      .Case<nn::ReluGradientOp>([&](auto) {
        return select(builder, Predicate::OLE, y, zero(), zero(), x);
      })
      .Case<nn::StandardiseOp>([&](auto) {
        Value centred = arith::SubFOp::create(builder, x, y);
        return arith::DivFOp::create(builder, centred, operands[2]);
      })
      .Case<nn::SigmoidCrossEntropyOp>([&](auto) {
        Value product = arith::MulFOp::create(builder, x, y);
        Value positive = arith::MaximumFOp::create(builder, x, zero());
        Value size = math::AbsFOp::create(builder, x);
        Value power =
            math::ExpOp::create(builder, arith::NegFOp::create(builder, size));
        Value tail = math::Log1pOp::create(builder, power);
        Value linear = arith::SubFOp::create(builder, positive, product);
        return arith::AddFOp::create(builder, linear, tail);
      })
      .Case<nn::SquaredErrorOp>([&](auto) {
        Value difference = arith::SubFOp::create(builder, x, y);
        return arith::MulFOp::create(builder, difference, difference);
      })
      .Default([](Operation *) { return Value(); });
}
