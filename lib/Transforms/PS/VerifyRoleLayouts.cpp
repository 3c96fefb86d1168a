//===- VerifyRoleLayouts.cpp - Verify the state of both roles -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleVerifiers.h"

using namespace mlir;
using namespace pdlc;

static LogicalResult verifySameLayout(Role &trainer, Role &pserver) {
  auto check = [](Operation *op, Role &other, StringRef attribute,
                  StringRef where) -> LogicalResult {
    StringAttr name = SymbolTable::getSymbolName(op);
    Operation *twin = other.symbols.lookup(name);
    if (!twin || twin->getName() != op->getName())
      return op->emitOpError()
             << "@" << name.getValue() << " is not declared in " << where;
    if (!attribute.empty() &&
        op->getAttr(attribute) != twin->getAttr(attribute))
      return failWithNote(op->emitOpError()
                              << "@" << name.getValue() << " has " << attribute
                              << " " << op->getAttr(attribute) << ", but "
                              << twin->getAttr(attribute) << " in " << where,
                          twin, "the other declaration is here");
    // Only the declarations of servers have a group, so the attributes of
    // groups are not compared.
    auto withoutGroup = [](Operation *declaration) {
      NamedAttrList attributes(declaration->getAttrDictionary());
      for (StringLiteral attribute : nn::TableOp::getNamesOfGroup())
        attributes.erase(attribute);
      return attributes.getDictionary(declaration->getContext());
    };
    if (withoutGroup(op) != withoutGroup(twin))
      return failWithNote(op->emitOpError()
                              << "@" << name.getValue()
                              << " is declared in another way in " << where,
                          twin, "the other declaration is here");
    return success();
  };
  for (auto [from, to, where] : {std::tuple(&trainer, &pserver, "@pserver"),
                                 std::tuple(&pserver, &trainer, "@trainer")})
    for (Operation &op : *from->module.getBody()) {
      StringRef attribute;
      if (isa<nn::ParamOp, nn::StateOp>(op))
        attribute = "type";
      else if (isa<nn::TableOp>(op))
        attribute = "row";
      else if (!isa<nn::ClipOp>(op))
        continue;
      if (failed(check(&op, *to, attribute, where)))
        return failure();
    }
  return success();
}

static LogicalResult verifyUnits(Role &role) {
  llvm::DenseMap<Attribute, Operation *> cut;
  for (Operation &op : *role.module.getBody()) {
    if (!isa<ps::BlocksOp, ps::ShardsOp>(op))
      continue;
    Attribute symbol = op.getAttr("symbol");
    auto [first, isNew] = cut.try_emplace(symbol, &op);
    if (!isNew)
      return failWithNote(op.emitOpError()
                              << "cuts " << symbol
                              << " a second time: each unit has one owner",
                          first->second, "the first time is here");
  }
  for (Operation &op : *role.module.getBody())
    if (op.hasTrait<HoldsState>() &&
        !cut.contains(FlatSymbolRefAttr::get(SymbolTable::getSymbolName(&op))))
      return op.emitOpError()
             << "@" << SymbolTable::getSymbolName(&op).getValue()
             << " is not cut into units, so that no server owns it";
  return success();
}

static LogicalResult verifySameUnits(Role &trainer, Role &pserver) {
  auto unitsOf = [](Role &role) {
    SmallVector<Operation *> units;
    for (Operation &op : *role.module.getBody())
      if (isa<ps::BlocksOp, ps::ShardsOp>(op))
        units.push_back(&op);
    return units;
  };
  // Both have all symbols, each cut once, so the lists have the same length.
  for (auto [ours, theirs] : llvm::zip(unitsOf(trainer), unitsOf(pserver))) {
    if (ours->getAttr("symbol") != theirs->getAttr("symbol"))
      return failWithNote(
          theirs->emitOpError()
              << "cuts " << theirs->getAttr("symbol") << " where @trainer cuts "
              << ours->getAttr("symbol") << ": both place units in one order",
          ours, "in @trainer");
    if (ours->getAttrDictionary() != theirs->getAttrDictionary())
      return failWithNote(theirs->emitOpError()
                              << "cuts " << theirs->getAttr("symbol")
                              << " in another way than @trainer does",
                          ours, "in @trainer");
  }
  return success();
}

LogicalResult pdlc::verifyRoleLayouts(RolePair &roles) {
  return success(succeeded(verifySameLayout(roles.trainer, roles.pserver)) &&
                 succeeded(verifyUnits(roles.trainer)) &&
                 succeeded(verifyUnits(roles.pserver)) &&
                 succeeded(verifySameUnits(roles.trainer, roles.pserver)));
}
