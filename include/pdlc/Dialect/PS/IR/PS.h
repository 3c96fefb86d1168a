//===- PS.h - The distribution dialect --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Includes everything that a user of dialect `ps` needs. The .td files document
// types and ops.
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

/// Properties of a mode (`#ps.mode`) that passes query.
using ModeProperties = pdlabi::Mode;

/// The values of a channel of kind `loss`: f64 sums over the samples of a step.
struct LossSums {
  mlir::Value sum, weight;

  /// Interprets the two values that an op sends or receives through a channel
  /// of kind `loss`.
  static LossSums of(mlir::ValueRange values);
  /// Returns the two values.
  llvm::SmallVector<mlir::Value> getValues() const { return {sum, weight}; }
};

const ModeProperties &propertiesOf(Mode mode);

/// Returns the mode of that name, spelled as in flags ("half-async"). Returns
/// nothing if the name is unknown. In IR, a mode is a keyword: `half_async`.
std::optional<Mode> modeOf(llvm::StringRef name);

/// Returns a list of the mode names for messages, such as "local, sync or
/// async". If `withServers`, lists only the modes with servers.
std::string modeList(bool withServers);

} // namespace pdlc::ps

#define GET_ATTRDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "pdlc/Dialect/PS/IR/PSTypes.h.inc"
#define GET_OP_CLASSES
#include "pdlc/Dialect/PS/IR/PSOps.h.inc"

namespace pdlc::ps {

/// Returns the mode of a module. A module without a mode attribute has mode
/// `local` and uses no op of this dialect.
const ModeProperties &getMode(mlir::ModuleOp module);

/// Returns the mode of a module that uses servers. Otherwise fails with an
/// error at the module.
mlir::FailureOr<ModeAttr> requireMode(mlir::ModuleOp module);

/// Returns the types of the values that an op sends or receives through a
/// channel: the type of the channel, or two scalars for a channel of kind
/// `loss`.
llvm::SmallVector<mlir::Type> valueTypes(ChannelOp channel);

/// A channel, and the values that an op sends or receives through it.
struct ChannelValues {
  ChannelOp channel;
  llvm::SmallVector<mlir::Value> values;

  /// Returns the single value of a channel of any kind except `loss`.
  mlir::Value getValue() const { return values.front(); }
};

/// Return values with their channels, in the order of the message: the values
/// that `post` sends, the values that `wait` receives, and the keys that `wait`
/// sends with its request. `symbols` is the symbol table of the module that
/// declares the channels.
llvm::SmallVector<ChannelValues> sentValues(PostOp post,
                                            const mlir::SymbolTable &symbols);
llvm::SmallVector<ChannelValues>
receivedValues(WaitOp wait, const mlir::SymbolTable &symbols);
llvm::SmallVector<ChannelValues> sentKeys(WaitOp wait,
                                          const mlir::SymbolTable &symbols);

/// Returns the channel that `name` refers to; null if there is none. Takes
/// constant time. Passes look up every channel, and a lookup without the symbol
/// table would take time proportional to the size of the module.
ChannelOp lookupChannel(const mlir::SymbolTable &symbols, mlir::Attribute name);

} // namespace pdlc::ps

#endif // PDLC_DIALECT_PS_IR_PS_H
