//===- NNTypes.cpp - Types of dialect nn --------------------------------===//
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

using namespace mlir;
using namespace pdlc::nn;

#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/NN/IR/NNTypes.cpp.inc"

void NNDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pdlc/Dialect/NN/IR/NNTypes.cpp.inc"
      >();
}

Type RaggedType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseStar() || parser.parseXInDimensionList() ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return parser.getChecked<RaggedType>(parser.getContext(), shape, elementType);
}

void RaggedType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape()) {
    if (ShapedType::isDynamic(size))
      printer << '?';
    else
      printer << size;
    printer << 'x';
  }
  printer << "*x" << getElementType() << ">";
}

LogicalResult RaggedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType) {
  if (shape.size() != 2 || !ShapedType::isDynamic(shape[0]) ||
      ShapedType::isDynamic(shape[1]) || shape[1] < 1)
    return emitError() << "a ragged type has a dynamic batch and a static, "
                          "positive number of slots before '*', such as "
                          "!nn.ragged<?x26x*xi64>";
  if (!elementType.isInteger(64) && !elementType.isF32() &&
      !elementType.isF64())
    return emitError() << "a ragged type holds i64 ids, or numbers that are "
                          "f32 or f64, not "
                       << elementType;
  return success();
}
