//===- CheckModel.cpp - What a model says in vain -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Spelling.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNCHECKMODEL
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// The programs that commands of an executable run.
static constexpr StringLiteral knownPrograms[] = {"train", "evaluate",
                                                  "predict"};

/// One declaration of a sample serves all programs, readers and servers.
static LogicalResult checkRecords(ModuleOp module) {
  RecordOp first;
  for (auto record : module.getOps<RecordOp>()) {
    if (!first) {
      first = record;
      continue;
    }
    InFlightDiagnostic diagnostic =
        record.emitOpError()
        << "is the second nn.record of the model; put all fields into one and "
           "leave some out of a program with `except` (C2)";
    diagnostic.attachNote(first.getLoc()) << "the first one is here";
    return failure();
  }
  return success();
}

/// Warns of programs that no command runs, because of a letter.
static void checkProgramNames(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>()) {
    StringRef name = program.getSymName();
    if (llvm::is_contained(knownPrograms, name))
      continue;
    SmallVector<StringRef> missing;
    for (StringRef known : knownPrograms)
      if (!module.lookupSymbol<ProgramOp>(known))
        missing.push_back(known);
    std::string meant = didYouMean(name, missing);
    if (!meant.empty())
      program.emitWarning()
          << "no command runs program @" << name
          << "; commands are train, evaluate and predict" << meant;
  }
}

/// Warns of groups that no program trains, in a model that trains some.
static void checkGroups(ModuleOp module) {
  DenseSet<Attribute> trained;
  bool trains = false;
  module.walk([&](MinimizeOp minimize) {
    trains = true;
    trained.insert_range(minimize.getGroups());
  });
  if (!trains)
    return;
  for (auto group : module.getOps<GroupOp>()) {
    if (trained.contains(FlatSymbolRefAttr::get(group.getSymNameAttr())))
      continue;
    group.emitWarning() << "nothing trains group @" << group.getSymName()
                        << ": no nn.minimize names it";
  }
}

/// Warns of state that nothing reads.
static void checkState(ModuleOp module) {
  DenseSet<Attribute> read;
  module.walk([&](Operation *op) {
    // Groups are named by what they hold; what a program or a function names is
    // read.
    if (op->getParentOp() == module)
      return;
    op->getAttrDictionary().walk(
        [&](FlatSymbolRefAttr name) { read.insert(name.getAttr()); });
  });
  SmallVector<Operation *> unread;
  for (Operation &op : *module.getBody())
    if (isa<ParamOp, StateOp, TableOp>(op) &&
        !read.contains(SymbolTable::getSymbolName(&op)))
      unread.push_back(&op);
  for (Operation *op : unread)
    op->emitWarning() << "nothing reads @"
                      << SymbolTable::getSymbolName(op).getValue()
                      << ": no program and no function names it";
}

namespace {
struct CheckModel : pdlc::impl::NNCheckModelBase<CheckModel> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkRecords(module)))
      return signalPassFailure();
    checkProgramNames(module);
    checkGroups(module);
    checkState(module);
    markAllAnalysesPreserved();
  }
};
} // namespace
