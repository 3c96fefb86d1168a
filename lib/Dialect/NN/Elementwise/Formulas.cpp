//===- Formulas.cpp - Common code of scalar formulas ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

Value pdlc::callSettled(ImplicitLocOpBuilder &builder, StringRef name,
                        ValueRange operands) {
  Type type = operands.front().getType();
  return func::CallOp::create(builder, name, type, operands).getResult(0);
}

Value pdlc::nn::createScalar(ImplicitLocOpBuilder &builder, Type type,
                             double value) {
  return arith::ConstantOp::create(builder, builder.getFloatAttr(type, value));
}

Value pdlc::nn::selectWhere(ImplicitLocOpBuilder &builder,
                            arith::CmpFPredicate condition, Value a, Value b,
                            Value yes, Value no) {
  Value holds = arith::CmpFOp::create(builder, condition, a, b);
  return arith::SelectOp::create(builder, holds, yes, no);
}

Value pdlc::nn::signOr(ImplicitLocOpBuilder &builder, Value value, Value rest) {
  using Predicate = arith::CmpFPredicate;
  Type type = value.getType();
  Value zero = createScalar(builder, type, 0);
  Value positive = arith::CmpFOp::create(builder, Predicate::OGT, value, zero);
  Value negative = arith::CmpFOp::create(builder, Predicate::OLT, value, zero);
  Value minusOne = createScalar(builder, type, -1);
  rest = arith::SelectOp::create(builder, negative, minusOne, rest);
  Value one = createScalar(builder, type, 1);
  return arith::SelectOp::create(builder, positive, one, rest);
}
