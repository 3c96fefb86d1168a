//===- RoleVerifiers.h - Parts of ps-verify-roles ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of ps-verify-roles. Each part fails at the op in question, and may rely
// on the properties that the parts above it in this file have verified.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PS_ROLEVERIFIERS_H
#define LIB_TRANSFORMS_PS_ROLEVERIFIERS_H

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"

namespace pdlc {

/// Declarations of one role, by name. Each query takes constant time, because
/// verifiers look up every channel and every value.
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
/// clips, and that both cut each symbol into units once, in the same way and
/// order.
mlir::LogicalResult verifyRoleLayouts(RolePair &roles);

/// Verifies that both roles declare the same channels and messages, and that
/// each channel is sent in the way that its kind and the mode require.
mlir::LogicalResult verifyRoleChannels(RolePair &roles);

/// Verifies that trainers wait for and post each message once, in an order that
/// terminates, that they own no state, and that each posted value fits its
/// channel.
mlir::LogicalResult verifyTrainerRole(RolePair &roles);

/// Verifies that servers update each symbol once, with its own gradient, keys
/// and scalars of its group, after all of these have arrived and before the
/// values are sent.
mlir::LogicalResult verifyServerRole(RolePair &roles);

/// Replaces the two functions above for modes in which trainers apply rules to
/// a copy. Verifies that an exchange carries exactly the symbols that the
/// program updates, and that servers add each change once, to the right symbol
/// and rows.
mlir::LogicalResult verifyRoleCopies(RolePair &roles);

/// Verifies that the norm of a clip includes exactly the symbols that the clip
/// applies to, in the order of a single process.
mlir::LogicalResult verifyRoleNorms(RolePair &roles);

/// Returns true if only servers know the op of a module.
bool belongsToServers(mlir::Operation *op, const ps::ModeProperties &mode);

/// Verifies that the trainer has no op of servers, that `verifyProgram`
/// succeeds for each of its programs, and that each of its channels is of a
/// program that it has.
mlir::LogicalResult verifyTrainerOps(
    RolePair &roles,
    llvm::function_ref<mlir::LogicalResult(nn::ProgramOp)> verifyProgram);

/// Verifies that a message starts the handler.
mlir::LogicalResult verifyHasMessage(ps::HandlerOp handler);

/// Returns a digest of everything on which two processes must agree in order to
/// communicate: mode, units, channels and messages of a module. Consists of 16
/// hexadecimal digits.
std::string wireDigest(mlir::ModuleOp module);

} // namespace pdlc

#endif // LIB_TRANSFORMS_PS_ROLEVERIFIERS_H
