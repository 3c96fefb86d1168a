//===- SplitClips.cpp - Split groups that clip by norm --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/Widens.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_NNSPLITCLIPS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
struct SplitClips : pdlc::impl::NNSplitClipsBase<SplitClips> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    uint64_t split = 0;
    for (GroupOp group : llvm::make_early_inc_range(module.getOps<GroupOp>())) {
      FlatSymbolRefAttr name = group.getClipAttr();
      auto clip = name ? symbols.lookup<ClipOp>(name.getValue()) : ClipOp();
      if (!clip || clip.getKind() != ClipKind::norm)
        continue;
      splitGroup(group, clip, symbols);
      ++split;
    }
    for (ClipOp clip : llvm::make_early_inc_range(module.getOps<ClipOp>()))
      if (clip.getKind() == ClipKind::norm)
        clip.erase();
    for (auto table : module.getOps<TableOp>())
      table->removeAttr(kWidensAttrName);
    reportStatistic(*this, module, numSplit, "groups-split", split);
  }

private:
  void splitGroup(GroupOp group, ClipOp clip, SymbolTable &symbols) {
    auto name = FlatSymbolRefAttr::get(group.getSymNameAttr());
    // New group of each symbol, by the symbol's name.
    DenseMap<Attribute, Attribute> parts;
    for (Operation &symbol : *getOperation().getBody()) {
      if (groupOf(&symbol) != name)
        continue;
      StringAttr member = SymbolTable::getSymbolName(&symbol);
      // Both parts of a split table share one norm. The first part precedes the
      // second in the module, so its group exists already.
      if (auto first = symbol.getAttrOfType<FlatSymbolRefAttr>(kWidensAttrName))
        if (auto shared =
                cast_or_null<FlatSymbolRefAttr>(parts.lookup(first))) {
          cast<TableOp>(symbol).setGroupAttr(shared);
          parts[FlatSymbolRefAttr::get(member)] = shared;
          continue;
        }
      auto part = cast<GroupOp>(insertCopy(group, member, group, symbols));
      auto limit = cast<ClipOp>(insertCopy(clip, member, part, symbols));
      limit.setKind(ClipKind::global_norm);
      part.setClipAttr(FlatSymbolRefAttr::get(limit.getSymNameAttr()));
      auto reference = FlatSymbolRefAttr::get(part.getSymNameAttr());
      if (auto param = dyn_cast<ParamOp>(symbol))
        param.setGroupAttr(reference);
      else
        cast<TableOp>(symbol).setGroupAttr(reference);
      parts[FlatSymbolRefAttr::get(member)] = reference;
    }
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      for (auto apply : program.getBody().getOps<ApplyGradientsOp>())
        replaceGroup(apply, name, parts);
    symbols.erase(group);
  }

  /// Inserts a copy of `op` before `place`. Its name is the name of `op`,
  /// followed by that of the symbol `member`.
  static Operation *insertCopy(Operation *op, StringAttr member,
                               Operation *place, SymbolTable &symbols) {
    Operation *copy = op->clone();
    SymbolTable::setSymbolName(
        copy,
        (SymbolTable::getSymbolName(op).getValue() + "." + member.getValue())
            .str());
    symbols.insert(copy, place->getIterator());
    return copy;
  }

  /// Replaces `group` in the groups of `apply` by the new groups. `parts` has
  /// the new group of each symbol; groups of symbols without a gradient are
  /// left out.
  static void replaceGroup(ApplyGradientsOp apply, FlatSymbolRefAttr group,
                           const DenseMap<Attribute, Attribute> &parts) {
    llvm::SetVector<Attribute> groups;
    for (Attribute other : apply.getGroups()) {
      if (other != group) {
        groups.insert(other);
        continue;
      }
      for (Attribute symbol : apply.getSymbols())
        if (Attribute part = parts.lookup(symbol))
          groups.insert(part);
    }
    apply.setGroupsAttr(
        ArrayAttr::get(apply.getContext(), groups.getArrayRef()));
  }
};
} // namespace
