//===- PS.h - The distribution dialect --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a user of dialect `ps` includes. Documentation of types and
// ops is in the .td files.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_PS_IR_PS_H
#define PDLC_DIALECT_PS_IR_PS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pdlc/Interfaces/ProgramOpInterfaces.h"

#include <optional>

#include "pdlc/Dialect/PS/IR/PSDialect.h.inc"
#include "pdlc/Dialect/PS/IR/PSEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSTypes.h.inc"
#define GET_OP_CLASSES
#include "pdlc/Dialect/PS/IR/PSOps.h.inc"

namespace pdlc::ps {

/// How gradients of several trainers come together (`ps.mode` of a module).
enum class Mode { sync, async };

/// The mode of a module; none where `ps.mode` is absent or not a known one.
std::optional<Mode> getMode(mlir::ModuleOp module);

/// Sets `mode`, for passes that cannot do without one: fails with an error at
/// the module where there is none.
llvm::LogicalResult requireMode(mlir::ModuleOp module, Mode &mode);

/// The types of the values that a channel stands for in an op that sends or
/// receives it: its own type, or of `loss` two scalars.
llvm::SmallVector<mlir::Type> valueTypes(ChannelOp channel);

/// The channel that a list of names refers to, at `user`'s place; null where it
/// is none.
ChannelOp lookupChannel(mlir::Operation *user, mlir::Attribute name);

} // namespace pdlc::ps

#endif // PDLC_DIALECT_PS_IR_PS_H
