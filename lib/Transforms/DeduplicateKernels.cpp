//===- DeduplicateKernels.cpp - One function for equal bodies -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
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
  /// One round; whether functions were merged (then their callers may have
  /// become equal).
  bool mergeEqual();

  uint64_t merged = 0;
};
} // namespace

/// The function's text, without its name.
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

bool DeduplicateKernels::mergeEqual() {
  ModuleOp module = getOperation();
  llvm::StringMap<func::FuncOp> firsts;
  const uint64_t before = merged;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function.isExternal())
      continue;
    auto [entry, isNew] =
        firsts.try_emplace(textWithoutName(function), function);
    if (isNew)
      continue;
    if (failed(SymbolTable::replaceAllSymbolUses(
            function, entry->second.getSymNameAttr(), module)))
      continue;
    function.erase();
    ++merged;
  }
  return merged > before;
}

void DeduplicateKernels::runOnOperation() {
  merged = 0;
  while (mergeEqual())
    ;
  pdlc::reportStatistic(*this, getOperation(), numMerged, "kernels-merged",
                        merged);
}
