//===- RT.h - The runtime dialect -------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Includes everything that a user of dialect `rt` needs. The .td files document
// attributes and ops.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_RT_H
#define PDLC_DIALECT_RT_IR_RT_H

#include "pdlc/Interfaces/ModelAttrInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pdlc::rt {

/// Returns true if the memory is row-major without gaps.
bool isDense(mlir::MemRefType type);
/// Returns true if the memory is row-major and has gaps at most between rows. A
/// row consists of all elements of one index of the first dimension.
bool hasDenseRows(mlir::MemRefType type);

/// Trait: the op becomes a call of a function of `pdlabi/abi.h`, which runs on
/// the host.
template <typename Op>
class CallsRuntime : public mlir::OpTrait::TraitBase<Op, CallsRuntime> {};

} // namespace pdlc::rt

#include "pdlc/Dialect/RT/IR/RTDialect.h.inc"
#include "pdlc/Dialect/RT/IR/RTEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/RT/IR/RTAttributes.h.inc"
#define GET_OP_CLASSES
#include "pdlc/Dialect/RT/IR/RTOps.h.inc"

#endif // PDLC_DIALECT_RT_IR_RT_H
