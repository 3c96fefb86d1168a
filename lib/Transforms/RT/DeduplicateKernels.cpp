//===- DeduplicateKernels.cpp - Merge kernels with equal bodies -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace pdlc {
#define GEN_PASS_DEF_RTDEDUPLICATEKERNELS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;

namespace {
struct DeduplicateKernels
    : pdlc::impl::RTDeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override;

private:
  /// Merges functions with equal bodies. Returns true if it has merged any.
  /// Then it must be called again, because callers of merged functions may have
  /// become equal.
  bool mergeEqual();

  uint64_t merged = 0;
};
} // namespace

/// Returns the text of the function without its name.
static std::string textWithoutName(func::FuncOp function) {
  StringAttr name = function.getSymNameAttr();
  function.setSymName("");
  std::string text;
  llvm::raw_string_ostream stream(text);
  function->print(stream,
                  OpPrintingFlags().useLocalScope().printGenericOpForm());
  function.setSymNameAttr(name);
  return text;
}

/// Renames the uses of symbols of `module`, all in a single walk. One walk for
/// each kernel would take quadratic time.
static void renameUses(ModuleOp module,
                       const DenseMap<StringAttr, StringAttr> &names) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymbolRefAttr symbol) -> std::optional<Attribute> {
        auto name = names.find(symbol.getRootReference());
        if (name == names.end())
          return std::nullopt;
        return SymbolRefAttr::get(name->second, symbol.getNestedReferences());
      });
  module.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    replacer.replaceElementsIn(op);
    // A nested symbol table has names of its own.
    return op->hasTrait<OpTrait::SymbolTable>() ? WalkResult::skip()
                                                : WalkResult::advance();
  });
}

bool DeduplicateKernels::mergeEqual() {
  ModuleOp module = getOperation();
  llvm::StringMap<func::FuncOp> firsts;
  DenseMap<StringAttr, StringAttr> names;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function.isExternal())
      continue;
    auto [entry, isNew] =
        firsts.try_emplace(textWithoutName(function), function);
    if (isNew)
      continue;
    names[function.getSymNameAttr()] = entry->second.getSymNameAttr();
    function.erase();
  }
  renameUses(module, names);
  merged += names.size();
  return !names.empty();
}

void DeduplicateKernels::runOnOperation() {
  merged = 0;
  while (mergeEqual())
    ;
  pdlc::reportStatistic(*this, getOperation(), numMerged, "kernels-merged",
                        merged);
}
