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
#include "pdlabi/modes.h"
#include "pdlc/Interfaces/ProgramOpInterfaces.h"

#include <optional>
#include <string>

#include "pdlc/Dialect/PS/IR/PSDialect.h.inc"
#include "pdlc/Dialect/PS/IR/PSEnums.h.inc"

namespace pdlc::ps {

/// What passes ask of a mode (`#ps.mode`).
using ModeProperties = pdlabi::Mode;

/// What a channel of kind `loss` carries, over the samples of a step, in f64.
struct LossSums {
  mlir::Value sum, weight;

  /// From the two values of such a channel, in an op that sends or receives it.
  static LossSums of(mlir::ValueRange values);
  /// Those two values.
  llvm::SmallVector<mlir::Value> getValues() const { return {sum, weight}; }
};

const ModeProperties &propertiesOf(Mode mode);

/// The mode of that name, as flags spell it ("half-async"); none if there is
/// none. In IR a mode is a keyword: `half_async`.
std::optional<Mode> modeOf(llvm::StringRef name);

/// The names of modes: "local, sync or async", or only of those of several
/// processes.
std::string modeList(bool withServers);

} // namespace pdlc::ps

#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSTypes.h.inc"
#define GET_OP_CLASSES
#include "pdlc/Dialect/PS/IR/PSOps.h.inc"

namespace pdlc::ps {

/// The mode of a module; `local` where it does not say one, which needs
/// nothing of this dialect.
const ModeProperties &getMode(mlir::ModuleOp module);

/// The mode of a module that servers take part in: fails with an error at the
/// module where they do not.
mlir::FailureOr<ModeAttr> requireMode(mlir::ModuleOp module);

/// The types of the values that a channel stands for in an op that sends or
/// receives it: its own type, or of `loss` two scalars.
llvm::SmallVector<mlir::Type> valueTypes(ChannelOp channel);

/// A channel, and the values that an op sends or receives through it.
struct ChannelValues {
  ChannelOp channel;
  llvm::SmallVector<mlir::Value> values;

  /// Of a channel of any kind but `loss`.
  mlir::Value getValue() const { return values.front(); }
};

/// Returns what `post` sends, what `wait` brings, and the keys that `wait` asks
/// by, in the order of the message. `symbols` is the table of the module that
/// declares the channels.
llvm::SmallVector<ChannelValues> sentValues(PostOp post,
                                            const mlir::SymbolTable &symbols);
llvm::SmallVector<ChannelValues>
receivedValues(WaitOp wait, const mlir::SymbolTable &symbols);
llvm::SmallVector<ChannelValues> sentKeys(WaitOp wait,
                                          const mlir::SymbolTable &symbols);

/// Returns the channel that a name in a list refers to; null if there is none.
/// Takes constant time. A lookup without the table takes time in proportion to
/// the module, and passes look up each channel.
ChannelOp lookupChannel(const mlir::SymbolTable &symbols, mlir::Attribute name);

} // namespace pdlc::ps

#endif // PDLC_DIALECT_PS_IR_PS_H
