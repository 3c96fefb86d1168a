//===- PSDialect.cpp - Dialect ps -----------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc::ps;

#include "pdlc/Dialect/PS/IR/PSDialect.cpp.inc"

#include "pdlc/Dialect/PS/IR/PSEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSTypes.cpp.inc"

#define GET_OP_CLASSES
#include "pdlc/Dialect/PS/IR/PSOps.cpp.inc"

void PSDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pdlc/Dialect/PS/IR/PSAttributes.cpp.inc"
      >();
}

LogicalResult PSDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  if (attribute.getName() == kModeAttrName &&
      !isa<ModeAttr>(attribute.getValue()))
    return op->emitError() << "has attribute '" << kModeAttrName
                           << "' with value " << attribute.getValue()
                           << ", which is no #ps.mode";
  return success();
}

void PSDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pdlc/Dialect/PS/IR/PSTypes.cpp.inc"
      >();
}

void PSDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pdlc/Dialect/PS/IR/PSOps.cpp.inc"
      >();
}
