//===- RoleVerifiers.h - What ps-verify-roles proves ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of ps-verify-roles. Each fails at the op in question, and may rely
// on what the parts before it in this file have proved.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_ROLEVERIFIERS_H
#define LIB_TRANSFORMS_ROLEVERIFIERS_H

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"

namespace pdlc {

/// One role's declarations, by name. Verifiers look up each channel and each
/// value, so every question here takes constant time.
struct Role {
  explicit Role(mlir::ModuleOp module);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  /// The first message that sends, or receives, the channel of a name.
  llvm::DenseMap<mlir::StringAttr, ps::MessageOp> senders, receivers;
};

/// What the waits of a program bring and ask by.
struct AwaitedValues {
  AwaitedValues(nn::ProgramOp program, const Role &role);

  /// The channel through which a value came; null for other values.
  llvm::DenseMap<mlir::Value, ps::ChannelOp> channels;
  /// The keys by which the program asks for rows, by the table's symbol.
  llvm::DenseMap<mlir::Attribute, mlir::Value> keys;
};

/// Both roles of a module.
struct RolePair {
  Role trainer, pserver;
  const ps::ModeProperties &mode;
};

/// Fails with a note at the other op.
mlir::LogicalResult failWithNote(mlir::InFlightDiagnostic diagnostic,
                                 mlir::Operation *other,
                                 const llvm::Twine &note);

/// Both declare the same parameters, states, tables and clips, and cut each
/// into units once, in one way and order.
mlir::LogicalResult verifyRoleLayouts(RolePair &roles);

/// Both declare the same channels and messages; each channel travels as its
/// kind and the mode say.
mlir::LogicalResult verifyRoleChannels(RolePair &roles);

/// Trainers wait for and post each message once, in an order that ends, and
/// own no state. What they post is what the channels are for.
mlir::LogicalResult verifyTrainerRole(RolePair &roles);

/// Servers update each symbol once, by its own gradient, keys and group's
/// scalars, when all of that has come and before the values go out.
mlir::LogicalResult verifyServerRole(RolePair &roles);

/// In place of the two above, where trainers apply rules to a copy: what a
/// program updates is what its exchange carries, and servers add each change
/// once, to the symbol and rows that it is of.
mlir::LogicalResult verifyRoleCopies(RolePair &roles);

/// What is posted as a clip's norm is formed of all symbols that the clip
/// counts in, and of no other, in the order of one process.
mlir::LogicalResult verifyRoleNorms(RolePair &roles);

/// Whether an op of a module is what only servers know of.
bool belongsToServers(mlir::Operation *op, const ps::ModeProperties &mode);

/// 16 hexadecimal digits of all that two processes must agree on to understand
/// each other: the mode, units, channels and messages of a module.
std::string wireDigest(mlir::ModuleOp module);

} // namespace pdlc

#endif // LIB_TRANSFORMS_ROLEVERIFIERS_H
