//===- RTDialect.cpp - Dialect rt -----------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc::rt;

#include "pdlc/Dialect/RT/IR/RTDialect.cpp.inc"

#include "pdlc/Dialect/RT/IR/RTEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/RT/IR/RTAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "pdlc/Dialect/RT/IR/RTOps.cpp.inc"

void RTDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pdlc/Dialect/RT/IR/RTAttributes.cpp.inc"
      >();
}

void RTDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "pdlc/Dialect/RT/IR/RTOps.cpp.inc"
      >();
}
