//===- NNAttributes.cpp - Attributes of dialect nn ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "pdlabi/abi/metric.h"
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

//===----------------------------------------------------------------------===//
// Attributes in general
//===----------------------------------------------------------------------===//

// The generated parser ignores text after an attribute without parameters, such
// as `#nn.zeros<1>`. So reject it here.
Attribute NNDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc location = parser.getCurrentLocation();
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (!result.has_value()) {
    parser.emitError(location) << "unknown attribute '#nn." << mnemonic << "'";
    return {};
  }
  if (failed(*result))
    return {};
  if (succeeded(parser.parseOptionalLess())) {
    parser.emitError(location)
        << "#" << attribute.getAbstractAttribute().getName()
        << " takes no parameters; leave out <...>";
    return {};
  }
  return attribute;
}

void NNDialect::printAttribute(Attribute attribute,
                               DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attribute, printer);
}
