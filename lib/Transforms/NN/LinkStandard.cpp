//===- LinkStandard.cpp - Link standard rules and schedules ---------------===//
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
#include "pdlc/Support/Spelling.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNLINKSTD
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Returns the element type of a symbol that can be trained.
static Type elementOf(Operation &symbol) {
  if (auto param = dyn_cast<ParamOp>(symbol))
    return getElementTypeOrSelf(param.getType());
  if (auto table = dyn_cast<TableOp>(symbol))
    return getElementTypeOrSelf(table.getRow());
  return {};
}

/// Returns the element type of the symbols of `group`, which is the same for
/// all of them. If the group has no symbols, returns the type of the module's
/// first symbol.
static Type elementOf(GroupOp group) {
  Type first;
  auto name = FlatSymbolRefAttr::get(group.getSymNameAttr());
  for (Operation &op : *group->getBlock()) {
    Type element = elementOf(op);
    if (element && groupOf(&op) == name)
      return element;
    if (!first)
      first = element;
  }
  return first;
}

/// Returns the element type of a cycle's first loss.
static Type elementOf(CycleOp cycle, SymbolTable &symbols) {
  auto name = cast<FlatSymbolRefAttr>(cycle.getPrograms()[0]);
  auto program = symbols.lookup<ProgramOp>(name.getValue());
  auto minimizes = program.getBody().getOps<MinimizeOp>();
  return getElementTypeOrSelf((*minimizes.begin()).getLosses());
}

namespace {
struct LinkStd : pdlc::impl::NNLinkStdBase<LinkStd> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    linked = 0;
    rules[false].clear();
    rules[true].clear();
    for (GroupOp group : module.getOps<GroupOp>()) {
      Type element = elementOf(group);
      FlatSymbolRefAttr rule = group.getRuleAttr(),
                        average = group.getAverageAttr(),
                        compensation = group.getCompensationAttr();
      if (failed(linkRule(group, rule, element, symbols)) ||
          failed(linkRule(group, average, element, symbols)) ||
          failed(linkRule(group, compensation, element, symbols)) ||
          failed(linkSchedule(group, symbols)))
        return signalPassFailure();
      group.setRuleAttr(rule);
      if (average)
        group.setAverageAttr(average);
      if (compensation)
        group.setCompensationAttr(compensation);
    }
    // Rule that nn-join-cycle uses.
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
      // All cycles count in one type, that of the losses of the first cycle.
      if (symbols.lookup(CycleOp::kRule))
        continue;
      auto name = FlatSymbolRefAttr::get(&getContext(), CycleOp::kRule);
      if (failed(linkRule(cycle, name, elementOf(cycle, symbols), symbols)))
        return signalPassFailure();
    }
    reportStatistic(*this, module, numLinked, "definitions-linked", linked);
  }

  /// Adds the standard rule `name`, for elements of type `element`, unless the
  /// module has it. If it has this rule for another type, the added rule gets a
  /// different name. Sets `name` to the name of the rule to use.
  LogicalResult linkRule(Operation *user, FlatSymbolRefAttr &name, Type element,
                         SymbolTable &symbols) {
    if (!name)
      return success();
    const bool isWide = element && element.isF64();
    RuleOp rule = rules[isWide].lookup(name);
    if (!rule) {
      const bool isOfOthers = bool(rules[!isWide].lookup(name));
      if (!isOfOthers && symbols.lookup(name.getValue()))
        return success();
      rule = find<RuleOp>(user, name);
      if (!rule)
        return failure();
      rules[isWide][name] = rule;
      if (isWide)
        widenElementType(rule);
      if (isOfOthers) {
        std::string text;
        llvm::raw_string_ostream(text) << name.getValue() << '.' << element;
        rule.setSymName(text);
      }
      symbols.insert(rule, user->getIterator());
    }
    name = FlatSymbolRefAttr::get(rule.getSymNameAttr());
    return success();
  }

  LogicalResult linkSchedule(GroupOp group, SymbolTable &symbols) {
    FlatSymbolRefAttr name = group.getScheduleAttr();
    if (!name || symbols.lookup(name.getValue()))
      return success();
    ScheduleOp schedule = find<ScheduleOp>(group, name);
    if (!schedule)
      return failure();
    symbols.insert(schedule, group->getIterator());
    return success();
  }

  /// Parses the definition `name` of the standard library, and returns it. If
  /// the library has no such definition, reports an error and returns null.
  template <typename OpT> OpT find(Operation *user, FlatSymbolRefAttr name) {
    const StandardDefinition *definition =
        findStandardDefinition(name.getValue());
    if (!definition) {
      SmallVector<StringRef> known;
      for (const StandardDefinition &each : getStandardLibrary())
        known.push_back(each.name);
      const std::string meant = didYouMean(name.getValue(), known);
      user->emitOpError() << "names " << name
                          << ", which neither the module nor the "
                             "standard library defines"
                          << (meant.empty() ? "; the" : meant + " The")
                          << " library has " << standardLibraryList();
      return {};
    }
    OwningOpRef<ModuleOp> library = parseSourceString<ModuleOp>(
        definition->source, ParserConfig(&getContext()),
        ("std/" + definition->name + ".mlir").str());
    if (!library)
      return {};
    auto definitions = library->getOps<OpT>();
    if (definitions.empty()) {
      user->emitOpError() << "names " << name << ", which is not an "
                          << OpT::getOperationName()
                          << " in the standard library (C1)";
      return {};
    }
    OpT found = *definitions.begin();
    found->remove();
    ++linked;
    return found;
  }

  /// Rules linked for f32 and for f64, by their name in the library.
  DenseMap<Attribute, RuleOp> rules[2];
  uint64_t linked = 0;
};
} // namespace
