//===- NNAttributes.cpp - Attributes of dialect nn ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace pdlc::nn;

#include "pdlc/Dialect/NN/IR/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/NN/IR/NNAttributes.cpp.inc"

void NNDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pdlc/Dialect/NN/IR/NNAttributes.cpp.inc"
      >();
}

FailureOr<FloatAttr> pdlc::nn::parseNumber(AsmParser &parser) {
  double value = 0;
  if (parser.parseFloat(value))
    return failure();
  return parser.getBuilder().getF64FloatAttr(value);
}

void pdlc::nn::printNumber(AsmPrinter &printer, FloatAttr value) {
  printer.printFloat(value.getValue());
}

LogicalResult UniformAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  FloatAttr low, FloatAttr high) {
  if (!std::isfinite(low.getValueAsDouble()) ||
      !std::isfinite(high.getValueAsDouble()) ||
      !(low.getValueAsDouble() < high.getValueAsDouble()))
    return emitError()
           << "#nn.uniform needs two finite bounds, the lower first";
  return success();
}

LogicalResult NormalAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 FloatAttr mean, FloatAttr deviation) {
  if (!std::isfinite(mean.getValueAsDouble()) ||
      !std::isfinite(deviation.getValueAsDouble()) ||
      deviation.getValueAsDouble() < 0)
    return emitError() << "#nn.normal needs a finite mean and a deviation >= 0";
  return success();
}

static LogicalResult
verifyCoefficient(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                  FloatAttr coefficient) {
  if (!std::isfinite(coefficient.getValueAsDouble()))
    return emitError() << "#nn." << name << " needs a finite coefficient";
  return success();
}

LogicalResult L2Attr::verify(function_ref<InFlightDiagnostic()> emitError,
                             FloatAttr coefficient) {
  return verifyCoefficient(emitError, getMnemonic(), coefficient);
}

LogicalResult L1Attr::verify(function_ref<InFlightDiagnostic()> emitError,
                             FloatAttr coefficient) {
  return verifyCoefficient(emitError, getMnemonic(), coefficient);
}

LogicalResult AucAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t buckets) {
  if (buckets < 2 || buckets > (1 << 24))
    return emitError() << "#nn.auc needs between 2 and 16777216 buckets, got "
                       << buckets;
  return success();
}

Attribute HashAttr::parse(AsmParser &parser, Type) {
  StringRef kind;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&kind))
    return {};
  if (kind == "none") {
    if (parser.parseGreater())
      return {};
    return get(parser.getContext(), false, false, 0);
  }
  if (kind != "xxh64") {
    parser.emitError(location, "unknown hash '")
        << kind << "'; expected xxh64 or none";
    return {};
  }
  bool bySlot = false;
  uint64_t salt = 0;
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("salt") || parser.parseEqual())
      return {};
    if (succeeded(parser.parseOptionalKeyword("slot")))
      bySlot = true;
    else if (parser.parseInteger(salt))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), true, bySlot, salt);
}

void HashAttr::print(AsmPrinter &printer) const {
  if (!getXxh64()) {
    printer << "<none>";
    return;
  }
  printer << "<xxh64, salt = ";
  if (getSaltBySlot())
    printer << "slot";
  else
    printer << getSalt();
  printer << ">";
}
