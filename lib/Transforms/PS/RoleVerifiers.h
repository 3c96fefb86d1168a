//===- RoleVerifiers.h - Parts of ps-verify-roles ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that ps-verify-roles calls, in the order of this file. Each
// reports an error at the op in question, and may rely on what the functions
// above it have verified.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PS_ROLEVERIFIERS_H
#define LIB_TRANSFORMS_PS_ROLEVERIFIERS_H

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"

namespace pdlc {

/// The module of one role, with its symbols and messages by name. Each query
/// takes constant time, because verifiers look up every channel and every
/// value.
struct Role {
  explicit Role(mlir::ModuleOp module);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  /// First message that sends, or receives, the channel of that name.
  llvm::DenseMap<mlir::StringAttr, ps::MessageOp> senders, receivers;
};

/// Values and keys of the waits of a program.
struct AwaitedValues {
  AwaitedValues(nn::ProgramOp program, const Role &role);

  /// Channel through which each value was received.
  llvm::DenseMap<mlir::Value, ps::ChannelOp> channels;
  /// Keys with which the program requests rows, by the table's symbol.
  llvm::DenseMap<mlir::Attribute, mlir::Value> keys;
};

/// Both roles of a module.
struct RolePair {
  Role trainer, pserver;
  const ps::ModeProperties &mode;
};

/// Fails, with a note at the other op.
mlir::LogicalResult failWithNote(mlir::InFlightDiagnostic diagnostic,
                                 mlir::Operation *other,
                                 const llvm::Twine &note);

/// Verifies that both roles declare the same parameters, states, tables and
/// clips. Also verifies that each symbol is cut into units once, and that both
/// roles have the same units in the same order.
mlir::LogicalResult verifyRoleLayouts(RolePair &roles);

/// Verifies that both roles declare the same channels and messages. Also
/// verifies that messages send each channel as its kind and the mode require.
mlir::LogicalResult verifyRoleChannels(RolePair &roles);

/// Verifies the programs of trainers. They post each message once and wait for
/// it once, in an order in which no message waits for itself. They own no
/// state. Each posted value fits its channel.
mlir::LogicalResult verifyTrainerRole(RolePair &roles);

/// Verifies the handlers of servers. They update each symbol once, with its own
/// gradient, keys and scalars. The update comes after all of these have
/// arrived, and before values of the symbol are sent.
mlir::LogicalResult verifyServerRole(RolePair &roles);

/// Used instead of `verifyTrainerRole` and `verifyServerRole` in modes in which
/// trainers apply rules to a copy of the state. Verifies that an exchange
/// carries exactly the symbols that the program updates, and that servers add
/// each change once, to its own symbol and rows.
mlir::LogicalResult verifyRoleCopies(RolePair &roles);

/// Verifies the norm of each clip. It must include exactly the symbols to which
/// the clip applies, in the order in which a single process adds them.
mlir::LogicalResult verifyRoleNorms(RolePair &roles);

/// Returns true if only servers know the op of a module.
bool belongsToServers(mlir::Operation *op, const ps::ModeProperties &mode);

/// Verifies that the trainer's module contains no op of servers, that each of
/// its channels belongs to one of its programs, and that `verifyProgram`
/// succeeds for each program.
mlir::LogicalResult verifyTrainerOps(
    RolePair &roles,
    llvm::function_ref<mlir::LogicalResult(nn::ProgramOp)> verifyProgram);

/// Verifies that a message starts the handler.
mlir::LogicalResult verifyHasMessage(ps::HandlerOp handler);

/// Returns a digest of everything on which two processes must agree in order to
/// communicate: the mode, units, channels and messages of the module. The
/// digest has 16 hexadecimal digits.
std::string wireDigest(mlir::ModuleOp module);

} // namespace pdlc

#endif // LIB_TRANSFORMS_PS_ROLEVERIFIERS_H
