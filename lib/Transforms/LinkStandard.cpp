//===- LinkStandard.cpp - Standard rules and schedules that a model names
//---===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Std/StandardLibrary.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNLINKSTD
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Whether the state of `module` is f64 already.
static bool isWide(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    Type type;
    if (auto param = dyn_cast<ParamOp>(op))
      type = param.getType();
    else if (auto table = dyn_cast<TableOp>(op))
      type = table.getRow();
    if (type)
      return cast<RankedTensorType>(type).getElementType().isF64();
  }
  return false;
}

namespace {
struct LinkStd : pdlc::impl::NNLinkStdBase<LinkStd> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    linked = 0;
    for (GroupOp group : module.getOps<GroupOp>())
      if (failed(link<RuleOp>(group, group.getRuleAttr(), symbols)) ||
          failed(link<RuleOp>(group, group.getAverageAttr(), symbols)) ||
          failed(link<ScheduleOp>(group, group.getScheduleAttr(), symbols)))
        return signalPassFailure();
    // What nn-join-cycle names.
    Operation *own = symbols.lookup(CycleOp::kRule);
    for (CycleOp cycle : module.getOps<CycleOp>()) {
      if (own) {
        InFlightDiagnostic diagnostic =
            cycle.emitOpError()
            << "counts its turns by the standard library's rule @"
            << CycleOp::kRule
            << ", and the model defines that name itself; give its own another "
               "name (C5)";
        diagnostic.attachNote(own->getLoc()) << "it is defined here";
        return signalPassFailure();
      }
      if (failed(link<RuleOp>(
              cycle, FlatSymbolRefAttr::get(&getContext(), CycleOp::kRule),
              symbols)))
        return signalPassFailure();
    }
    reportStatistic(*this, module, numLinked, "definitions-linked", linked);
  }

  template <typename OpT>
  LogicalResult link(Operation *user, FlatSymbolRefAttr name,
                     SymbolTable &symbols) {
    if (!name || symbols.lookup(name.getValue()))
      return success();
    const StandardDefinition *definition =
        findStandardDefinition(name.getValue());
    if (!definition)
      return user->emitOpError()
             << "names " << name << ", which neither the module nor the "
             << "standard library defines; the library has "
             << standardLibraryList();
    OwningOpRef<ModuleOp> library = parseSourceString<ModuleOp>(
        definition->source, ParserConfig(&getContext()),
        ("std/" + definition->name + ".mlir").str());
    if (!library)
      return failure();
    auto definitions = library->getOps<OpT>();
    if (definitions.empty())
      return user->emitOpError()
             << "names " << name << ", which is not an "
             << OpT::getOperationName() << " in the standard library (C1)";
    Operation *found = *definitions.begin();
    found->remove();
    if (isWide(getOperation()))
      widenElementType(found);
    symbols.insert(found, user->getIterator());
    ++linked;
    return success();
  }

  uint64_t linked = 0;
};
} // namespace
