//===- ShareRules.cpp - Copy rules to trainers that own parameters --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/SymbolTable.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_PSSHARERULES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct ShareRules : pdlc::impl::PSShareRulesBase<ShareRules> {
  void runOnOperation() override;
};
} // namespace

static ModuleOp findRole(ModuleOp module, StringRef name) {
  for (auto role : module.getOps<ModuleOp>())
    if (auto said =
            role->getAttrOfType<StringAttr>(ps::PSDialect::kRoleAttrName);
        said && said.getValue() == name)
      return role;
  module.emitError() << "holds no module of role " << name
                     << ": run ps-outline-roles first";
  return {};
}

/// Erases updates of tables, whose rows stay with their owners.
static void eraseUpdatesOfTables(ps::HandlerOp handler, SymbolTable &symbols) {
  for (Operation &op : llvm::make_early_inc_range(handler.getBody().front()))
    if (auto update = dyn_cast<nn::UpdateOp>(op);
        update && isa<nn::TableOp>(symbols.lookup(update.getSymbol())))
      update.erase();
}

void ShareRules::runOnOperation() {
  ModuleOp trainer = findRole(getOperation(), "trainer");
  ModuleOp pserver = trainer ? findRole(getOperation(), "pserver") : ModuleOp();
  if (!pserver)
    return signalPassFailure();
  SymbolTable symbols(pserver);
  for (auto param : trainer.getOps<nn::ParamOp>())
    if (auto owned = symbols.lookup<nn::ParamOp>(param.getSymName()))
      if (FlatSymbolRefAttr group = owned.getGroupAttr())
        param.setGroupAttr(group);
  for (Operation &op : *pserver.getBody()) {
    if (!op.hasTrait<OwnedByServers>())
      continue;
    Operation *copy = op.clone();
    trainer.getBody()->push_back(copy);
    if (auto handler = dyn_cast<ps::HandlerOp>(copy))
      eraseUpdatesOfTables(handler, symbols);
  }
}
