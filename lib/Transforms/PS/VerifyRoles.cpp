//===- VerifyRoles.cpp - Verify that both roles fit together --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleVerifiers.h"
#include "mlir/IR/AsmState.h"
#include "pdlabi/hash.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace pdlc {
#define GEN_PASS_DEF_PSVERIFYROLES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

LogicalResult pdlc::failWithNote(InFlightDiagnostic diagnostic,
                                 Operation *other, const Twine &note) {
  diagnostic.attachNote(other->getLoc()) << note;
  return failure();
}

std::string pdlc::wireDigest(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Share the numbering of values among all prints. Each print would otherwise
  // number the whole module again.
  AsmState names(module, OpPrintingFlags().printGenericOpForm());
  stream << module->getAttr(ps::PSDialect::kModeAttrName) << '\n';
  for (Operation &op : *module.getBody())
    if (isa<ps::BlocksOp, ps::ShardsOp, ps::ChannelOp, ps::MessageOp>(op)) {
      op.print(stream, names);
      stream << '\n';
    }
  return llvm::utohexstr(pdlabi::hashText(text, 0), /*LowerCase=*/true,
                         /*Width=*/16);
}

Role::Role(ModuleOp module) : module(module), symbols(module) {
  for (auto message : module.getOps<ps::MessageOp>()) {
    for (auto name : message.getSends().getAsRange<FlatSymbolRefAttr>())
      senders.try_emplace(name.getAttr(), message);
    for (auto name : message.getReceives().getAsRange<FlatSymbolRefAttr>())
      receivers.try_emplace(name.getAttr(), message);
  }
}

AwaitedValues::AwaitedValues(nn::ProgramOp program, const Role &role) {
  for (auto wait : program.getBody().getOps<ps::WaitOp>()) {
    for (ps::ChannelValues &received : ps::receivedValues(wait, role.symbols))
      for (Value value : received.values)
        channels.try_emplace(value, received.channel);
    for (ps::ChannelValues &sent : ps::sentKeys(wait, role.symbols))
      keys.try_emplace(sent.channel.getSymbolAttr(), sent.getValue());
  }
}

bool pdlc::belongsToServers(Operation *op, const ps::ModeProperties &mode) {
  // Rules are in the role that applies them. Handlers are always on servers.
  return op->hasTrait<OwnedByServers>() &&
         (!mode.trainersApply || isa<ps::HandlerOp>(op));
}

LogicalResult pdlc::verifyTrainerOps(
    RolePair &roles,
    llvm::function_ref<LogicalResult(nn::ProgramOp)> verifyProgram) {
  Role &trainer = roles.trainer;
  for (Operation &op : *trainer.module.getBody()) {
    if (belongsToServers(&op, roles.mode))
      return op.emitOpError("belongs to servers, but stands in @trainer");
    if (auto program = dyn_cast<nn::ProgramOp>(op);
        program && failed(verifyProgram(program)))
      return failure();
  }
  for (auto channel : trainer.module.getOps<ps::ChannelOp>())
    if (!trainer.symbols.lookup<nn::ProgramOp>(channel.getProgram()))
      return channel.emitOpError()
             << "@" << channel.getSymName() << " is of program \""
             << channel.getProgram() << "\", which @trainer does not have";
  return success();
}

LogicalResult pdlc::verifyHasMessage(ps::HandlerOp handler) {
  if (handler.getMessageAttr())
    return success();
  return handler.emitOpError()
         << "@" << handler.getSymName()
         << " runs on no message: run ps-fuse-messages first";
}

namespace {
struct VerifyRoles : pdlc::impl::PSVerifyRolesBase<VerifyRoles> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

private:
  LogicalResult verify();
  /// Returns the module of the role `name`. If there is none, reports an error
  /// and returns null.
  ModuleOp findRole(StringRef name);
  /// Verifies that the digest that processes compare matches the module.
  LogicalResult verifyWire(ModuleOp module);
};
} // namespace

ModuleOp VerifyRoles::findRole(StringRef name) {
  ModuleOp found;
  for (auto module : getOperation().getOps<ModuleOp>()) {
    auto role = module->getAttrOfType<StringAttr>(ps::PSDialect::kRoleAttrName);
    if (!role) {
      module.emitOpError(
          "says no role: expected ps.role = \"trainer\" or \"pserver\"");
      return {};
    }
    if (role.getValue() != name)
      continue;
    if (found) {
      (void)failWithNote(module.emitOpError()
                             << "is a second module of role " << name,
                         found, "the first one is here");
      return {};
    }
    found = module;
  }
  if (!found)
    getOperation().emitError()
        << "holds no module of role " << name << ": run ps-outline-roles first";
  return found;
}

LogicalResult VerifyRoles::verifyWire(ModuleOp module) {
  Attribute said = module->getAttr(ps::PSDialect::kWireAttrName);
  std::string digest = wireDigest(module);
  if (said == StringAttr::get(&getContext(), digest))
    return success();
  return module.emitOpError()
         << "says " << ps::PSDialect::kWireAttrName << " = " << said
         << ", but its units, channels and messages give \"" << digest
         << "\": processes that mean different messages could meet";
}

/// Verifies that both roles have the same fingerprint: they belong to one
/// model, and can use the same checkpoints.
static LogicalResult verifyFingerprints(ModuleOp trainer, ModuleOp pserver) {
  auto partsOf = [](ModuleOp module) {
    auto found = module.getOps<nn::FingerprintOp>();
    return found.empty() ? DictionaryAttr()
                         : (*found.begin())->getAttrDictionary();
  };
  if (partsOf(trainer) == partsOf(pserver))
    return success();
  return failWithNote(pserver->emitOpError()
                          << "and @trainer differ in their nn.fingerprint",
                      trainer, "the trainer's module is here");
}

LogicalResult VerifyRoles::verify() {
  ModuleOp trainer = findRole("trainer");
  if (!trainer)
    return failure();
  ModuleOp pserver = findRole("pserver");
  if (!pserver)
    return failure();
  for (StringRef attribute :
       {ps::PSDialect::kModeAttrName, ps::PSDialect::kWireAttrName})
    if (trainer->getAttr(attribute) != pserver->getAttr(attribute))
      return failWithNote(pserver->emitOpError()
                              << "and @trainer differ in " << attribute,
                          trainer, "the trainer's module is here");
  if (failed(verifyFingerprints(trainer, pserver)))
    return failure();
  FailureOr<ps::ModeAttr> mode = ps::requireMode(trainer);
  if (failed(mode))
    return failure();
  RolePair roles{Role(trainer), Role(pserver), mode->getProperties()};
  return success(succeeded(verifyRoleLayouts(roles)) &&
                 succeeded(verifyRoleChannels(roles)) &&
                 succeeded(roles.mode.trainersApply
                               ? verifyRoleCopies(roles)
                               : success(succeeded(verifyTrainerRole(roles)) &&
                                         succeeded(verifyServerRole(roles)))) &&
                 succeeded(verifyRoleNorms(roles)) &&
                 succeeded(verifyWire(trainer)));
}
