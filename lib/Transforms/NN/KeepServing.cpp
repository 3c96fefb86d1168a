//===- KeepServing.cpp - Keep only the parts that serving needs -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/ServedSlot.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace pdlc {
#define GEN_PASS_DEF_NNKEEPSERVING
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
struct KeepServing : pdlc::impl::NNKeepServingBase<KeepServing> {
  using NNKeepServingBase::NNKeepServingBase;
  void runOnOperation() override;

private:
  int64_t programs = 0, symbols = 0, fields = 0;

  bool keepPrograms();
  void nameServedSlots();
  void eraseUnusedSymbols();
  void eraseUnusedFields(RecordOp record);
};
} // namespace

/// Returns true if a program can answer requests: it is frozen and has outputs.
static bool answers(ProgramOp program) {
  return program.getFrozen() && program.getReturn().getNumOperands() > 0;
}

/// Erases ops that only metrics need, from last to first.
static void eraseDeadOps(ProgramOp program) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isa<ObserveOp>(op) || isOpTriviallyDead(&op))
      op.erase();
}

/// Removes unread fields from the program's list.
static void eraseUnreadFields(ProgramOp program) {
  Block &body = program.getBody().front();
  SmallVector<Attribute> except;
  if (ArrayAttr before = program.getExceptAttr())
    llvm::append_range(except, before);
  unsigned next = 0;
  for (FieldOp field : program.getFields()) {
    const unsigned count = field.isRagged() ? 2 : 1;
    if (llvm::all_of(body.getArguments().slice(next, count),
                     [](BlockArgument value) { return value.use_empty(); })) {
      body.eraseArguments(next, count);
      except.push_back(FlatSymbolRefAttr::get(field.getSymNameAttr()));
    } else {
      next += count;
    }
  }
  if (!except.empty())
    program.setExceptAttr(ArrayAttr::get(program.getContext(), except));
}

/// Erases the programs that serving cannot run: those that are not frozen or
/// have no outputs. Returns false if no program is left.
bool KeepServing::keepPrograms() {
  bool any = false;
  for (auto program :
       llvm::make_early_inc_range(getOperation().getOps<ProgramOp>())) {
    if (!answers(program)) {
      program.erase();
      ++programs;
      continue;
    }
    any = true;
    eraseDeadOps(program);
    eraseUnreadFields(program);
  }
  return any;
}

/// If frozen programs read a slot of a symbol instead of its value, sets the
/// attribute `nn.served_slot`. Also removes the symbols from their groups. Must
/// be called before rules are erased.
void KeepServing::nameServedSlots() {
  ModuleOp module = getOperation();
  SymbolTable table(module);
  for (Operation &op : *module.getBody()) {
    if (!op.hasTrait<HoldsState>())
      continue;
    FlatSymbolRefAttr name = groupOf(&op);
    auto group = name ? table.lookup<GroupOp>(name.getValue()) : GroupOp();
    auto rule = group ? table.lookup<RuleOp>(group.getRule()) : RuleOp();
    if (rule && rule.getFrozenSlotAttr())
      op.setAttr(kServedSlotAttrName, rule.getFrozenSlotAttr());
    if (auto rows = dyn_cast<TableOp>(op))
      rows.forgetGroup();
    else if (auto parameter = dyn_cast<ParamOp>(op))
      parameter.removeGroupAttr();
  }
}

void KeepServing::eraseUnusedSymbols() {
  ModuleOp module = getOperation();
  DenseSet<StringAttr> used;
  for (auto program : module.getOps<ProgramOp>())
    program.walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
          used.insert(symbol.getAttr());
    });
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    const bool mayBeUsed = isa<RecordOp>(op) || op.hasTrait<HoldsState>();
    if (isa<ProgramOp, FingerprintOp>(op) ||
        (mayBeUsed && used.contains(SymbolTable::getSymbolName(&op))))
      continue;
    symbols += op.hasTrait<HoldsState>();
    op.erase();
  }
}

/// Erases the fields of a record that no program reads. Sets the columns of
/// later fields explicitly, because they were counted from the fields before.
void KeepServing::eraseUnusedFields(RecordOp record) {
  DenseSet<Operation *> read;
  for (auto program : getOperation().getOps<ProgramOp>())
    for (FieldOp field : program.getFields())
      read.insert(field);
  Builder builder(&getContext());
  int64_t column = 0;
  bool anyErased = false;
  SmallVector<FieldOp> unread;
  for (FieldOp field : record.getBody().getOps<FieldOp>()) {
    const int64_t width = field.getWidth();
    if (!read.contains(field)) {
      anyErased = true;
      unread.push_back(field);
    } else if (anyErased && !field.getColumnsAttr()) {
      field.setColumnsAttr(builder.getI64ArrayAttr(
          llvm::to_vector(llvm::seq(column, column + width))));
    }
    column += width;
  }
  for (FieldOp field : unread) {
    const auto name = FlatSymbolRefAttr::get(field.getSymNameAttr());
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<Attribute> except;
      for (Attribute other : program.getExceptAttr())
        if (other != name)
          except.push_back(other);
      if (except.empty())
        program.removeExceptAttr();
      else
        program.setExceptAttr(builder.getArrayAttr(except));
    }
    field.erase();
    ++fields;
  }
}

void KeepServing::runOnOperation() {
  ModuleOp module = getOperation();
  programs = symbols = fields = 0;
  if (!keepPrograms()) {
    module.emitError(
        "the model has nothing to serve: no frozen program returns "
        "anything; add one such as @predict, with an nn.return of "
        "its predictions");
    return signalPassFailure();
  }
  nameServedSlots();
  eraseUnusedSymbols();
  for (auto record : llvm::make_early_inc_range(module.getOps<RecordOp>()))
    eraseUnusedFields(record);
  reportStatistic(*this, module, numPrograms, "programs-erased", programs);
  reportStatistic(*this, module, numSymbols, "symbols-erased", symbols);
  reportStatistic(*this, module, numFields, "fields-erased", fields);
}
