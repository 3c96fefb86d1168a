//===- Regularizers.cpp - Regularizers ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Elementwise/Formulas.h"
#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

static LogicalResult
verifyCoefficient(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                  FloatAttr coefficient) {
  const double number = coefficient.getValueAsDouble();
  if (!std::isfinite(number) || number < 0)
    return emitError() << "#nn." << name << " needs a finite coefficient >= 0";
  return success();
}

LogicalResult L2Attr::verify(function_ref<InFlightDiagnostic()> emitError,
                             FloatAttr coefficient) {
  return verifyCoefficient(emitError, getMnemonic(), coefficient);
}

/// Returns coefficient * direction.
static Value scaled(ImplicitLocOpBuilder &builder, FloatAttr coefficient,
                    Value direction) {
  Value number = createScalar(builder, direction.getType(),
                              coefficient.getValueAsDouble());
  return arith::MulFOp::create(builder, number, direction);
}

Value L2Attr::buildTerm(ImplicitLocOpBuilder &builder, Value value) const {
  return scaled(builder, getCoefficient(), value);
}

LogicalResult L1Attr::verify(function_ref<InFlightDiagnostic()> emitError,
                             FloatAttr coefficient) {
  return verifyCoefficient(emitError, getMnemonic(), coefficient);
}

Value L1Attr::buildTerm(ImplicitLocOpBuilder &builder, Value value) const {
  // Zero and NaN are their own sign.
  return scaled(builder, getCoefficient(), signOr(builder, value, value));
}
