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

#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSTypes.cpp.inc"

#define GET_OP_CLASSES
#include "pdlc/Dialect/PS/IR/PSOps.cpp.inc"

void PSDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "pdlc/Dialect/PS/IR/PSTypes.cpp.inc"
      >();
}

void PSDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pdlc/Dialect/PS/IR/PSOps.cpp.inc"
      >();
}
