//===- OutlineRoles.cpp - Outline the modules of both roles ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleVerifiers.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_PSOUTLINEROLES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct OutlineRoles : pdlc::impl::PSOutlineRolesBase<OutlineRoles> {
  void runOnOperation() override;

private:
  ModuleOp createRole(OpBuilder &builder, StringRef name, StringAttr wire);
};
} // namespace

ModuleOp OutlineRoles::createRole(OpBuilder &builder, StringRef name,
                                  StringAttr wire) {
  ModuleOp module = getOperation();
  auto role = ModuleOp::create(builder, module.getLoc(), name);
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    role->setAttr(attribute.getName(), attribute.getValue());
  role->setAttr(ps::PSDialect::kRoleAttrName, builder.getStringAttr(name));
  role->setAttr(ps::PSDialect::kWireAttrName, wire);
  return role;
}

static void removeGroup(Operation *op) {
  if (auto param = dyn_cast<nn::ParamOp>(op))
    param.removeGroupAttr();
  else if (auto table = dyn_cast<nn::TableOp>(op))
    table.forgetGroup();
}

void OutlineRoles::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<ps::ModeAttr> mode = ps::requireMode(module);
  if (failed(mode))
    return signalPassFailure();
  const ps::ModeProperties &properties = mode->getProperties();
  auto wire = StringAttr::get(&getContext(), wireDigest(module));
  SmallVector<Operation *> ops;
  for (Operation &op : *module.getBody()) {
    if (isa<ModuleOp>(op)) {
      op.emitError("is a module already: roles are cut out of a flat one");
      return signalPassFailure();
    }
    ops.push_back(&op);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  ModuleOp trainer = createRole(builder, "trainer", wire);
  ModuleOp pserver = createRole(builder, "pserver", wire);
  for (Operation *op : ops) {
    if (belongsToServers(op, properties)) {
      op->moveBefore(pserver.getBody(), pserver.getBody()->end());
      continue;
    }
    Operation *twin = nullptr;
    if (op->hasTrait<SharedByRoles>()) {
      twin = op->clone();
      pserver.getBody()->push_back(twin);
    }
    op->moveBefore(trainer.getBody(), trainer.getBody()->end());
    // A role that applies no rules only needs the layout of the state.
    if (twin)
      removeGroup(properties.trainersApply ? twin : op);
  }
}
