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

/// One role's declarations, by name.
struct Role {
  explicit Role(mlir::ModuleOp module) : module(module), symbols(module) {}

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
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

/// The message that sends a channel; null if none does.
ps::MessageOp findSender(ps::ChannelOp channel);
/// The message that receives a channel; null if none does.
ps::MessageOp findReceiver(ps::ChannelOp channel);

/// The channel through which a `ps.wait` brought `value`; null where that is
/// not how it came.
ps::ChannelOp awaitedChannel(mlir::Value value);

/// The keys by which a program asks for rows of `table`; null if it does not.
mlir::Value awaitedKeys(nn::ProgramOp program, mlir::FlatSymbolRefAttr table);

/// 16 hexadecimal digits of all that two processes must agree on to understand
/// each other: the mode, units, channels and messages of a module.
std::string wireDigest(mlir::ModuleOp module);

} // namespace pdlc

#endif // LIB_TRANSFORMS_ROLEVERIFIERS_H
