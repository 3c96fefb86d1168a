//===- NNDialect.cpp - Dialect nn ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

#include "pdlc/Dialect/NN/IR/NNDialect.cpp.inc"

LogicalResult NNDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  if ((attribute.getName() == kPhaseAttrName ||
       attribute.getName() == kFingerprintAttrName) &&
      !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError()
           << "has attribute '" << attribute.getName().getValue()
           << "' with value " << attribute.getValue()
           << ", which is not a string";
  return success();
}

void NNDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pdlc/Dialect/NN/IR/NNOps.cpp.inc"
      >();
}
