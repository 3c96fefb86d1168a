//===- AddAverages.cpp - Combine a rule and its average -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarRegions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNADDAVERAGES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Prefix of the average's names among the names of the combined rule.
static constexpr StringRef kPrefix = "average_";

namespace {
/// Combines `rule` with `average`, a rule that averages the new values of a
/// symbol. In the combined rule, arguments, slots and results of `average` come
/// after those of `rule`.
class Composition {
public:
  Composition(RuleOp rule, RuleOp average)
      : rule(rule), average(average), builder(rule), loc(average.getLoc()) {}

  RuleOp create() {
    SmallVector<Attribute> hypers(rule.getHyperNames().getValue());
    SmallVector<Attribute> slots(rule.getSlotNames().getValue());
    slots.push_back(builder.getStringAttr("average"));
    append(hypers, average.getHyperNames());
    append(slots, average.getSlotNames());
    SmallVector<double> hyperValues(rule.getHyperValues());
    llvm::append_range(hyperValues, average.getHyperValues());
    SmallVector<double> slotValues(rule.getSlotValues());
    slotValues.push_back(0);
    llvm::append_range(slotValues, average.getSlotValues());

    result = cast<RuleOp>(builder.cloneWithoutRegions(*rule));
    result.setSymName(
        (rule.getSymName() + "_with_" + average.getSymName()).str());
    result.setHyperNamesAttr(builder.getArrayAttr(hypers));
    result.setHyperValues(hyperValues);
    // The bounds apply to the rule's own hyper-parameters. The verifier of the
    // group has already checked its numbers against them.
    result.removeHyperBoundsAttr();
    result.setSlotNamesAttr(builder.getArrayAttr(slots));
    result.setSlotValues(slotValues);
    result.setFrozenSlot("average");
    createOnce();
    createEach();
    if (rule.hasRow()) {
      createSum();
      createRow();
    }
    return result;
  }

private:
  void append(SmallVector<Attribute> &names, ArrayAttr ofAverage) {
    for (StringRef name : ofAverage.getAsValueRange<StringAttr>())
      names.push_back(builder.getStringAttr(kPrefix + name));
  }

  /// Returns the number of scalars that the region `once` of a rule yields.
  static size_t scalarsOf(RuleOp rule) {
    return rule.getOnce().front().getTerminator()->getNumOperands();
  }

  /// Creates a block in `region` with arguments of these types, and sets the
  /// insertion point to it. Returns the arguments.
  ArrayRef<BlockArgument> begin(Region &region, TypeRange types) {
    return builder
        .createBlock(&region, {}, types,
                     SmallVector<Location>(types.size(), rule.getLoc()))
        ->getArguments();
  }

  Type element() { return rule.getEach().getArgument(0).getType(); }

  void createOnce() {
    OpBuilder::InsertionGuard guard(builder);
    const size_t own = rule.getOnce().getNumArguments(),
                 ofAverage = average.getHyperNames().size();
    ArrayRef<BlockArgument> arguments =
        begin(result.getOnce(),
              SmallVector<Type>(own + ofAverage, builder.getF64Type()));
    SmallVector<Value> yielded =
        inlineRegion(builder, rule.getOnce(), valuesOf(arguments, 0, own));
    // The average uses the step and the learning rate of the group.
    SmallVector<Value> averageArguments = valuesOf(arguments, 0, 2);
    llvm::append_range(averageArguments, valuesOf(arguments, own, ofAverage));
    llvm::append_range(
        yielded, inlineRegion(builder, average.getOnce(), averageArguments));
    YieldOp::create(builder, loc, yielded);
  }

  static SmallVector<Value> valuesOf(ArrayRef<BlockArgument> arguments,
                                     size_t first, size_t count) {
    return SmallVector<Value>(arguments.slice(first, count));
  }

  /// Returns the arguments for the rule's own element region, taken from the
  /// arguments of the combined one. These are the value, the gradient, and the
  /// slots and scalars of the rule. The last `handedOn` ones are results of its
  /// row region.
  SmallVector<Value> ruleArguments(ArrayRef<BlockArgument> arguments,
                                   size_t handedOn) {
    const size_t slots = rule.getSlotNames().size();
    SmallVector<Value> own = valuesOf(arguments, 0, 2 + slots);
    llvm::append_range(
        own,
        valuesOf(arguments, 2 + result.getSlotNames().size(), scalarsOf(rule)));
    llvm::append_range(own, arguments.take_back(handedOn));
    return own;
  }

  /// Creates the block of a combined element region, with the arguments of the
  /// rule and of the average. Returns the arguments.
  ArrayRef<BlockArgument> beginElement(Region &region, size_t handedOn) {
    return begin(region, SmallVector<Type>(2 + result.getSlotNames().size() +
                                               scalarsOf(rule) +
                                               scalarsOf(average) + handedOn,
                                           element()));
  }

  void createEach() {
    OpBuilder::InsertionGuard guard(builder);
    const size_t slots = rule.getSlotNames().size();
    const size_t handedOn =
        rule.getEach().getNumArguments() - 2 - slots - scalarsOf(rule);
    ArrayRef<BlockArgument> arguments =
        beginElement(result.getEach(), handedOn);
    SmallVector<Value> yielded = inlineRegion(
        builder, rule.getEach(), ruleArguments(arguments, handedOn));
    SmallVector<Value> averageArguments{arguments[2 + slots], yielded.front()};
    llvm::append_range(
        averageArguments,
        valuesOf(arguments, 3 + slots, average.getSlotNames().size()));
    llvm::append_range(
        averageArguments,
        valuesOf(arguments, 2 + result.getSlotNames().size() + scalarsOf(rule),
                 scalarsOf(average)));
    llvm::append_range(
        yielded, inlineRegion(builder, average.getEach(), averageArguments));
    YieldOp::create(builder, loc, yielded);
  }

  void createSum() {
    OpBuilder::InsertionGuard guard(builder);
    ArrayRef<BlockArgument> arguments = beginElement(result.getSum(), 0);
    YieldOp::create(
        builder, loc,
        inlineRegion(builder, rule.getSum(), ruleArguments(arguments, 0)));
  }

  void createRow() {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types(rule.getRow().getArgumentTypes());
    types.append(scalarsOf(average), element());
    ArrayRef<BlockArgument> arguments = begin(result.getRow(), types);
    YieldOp::create(
        builder, loc,
        inlineRegion(builder, rule.getRow(),
                     valuesOf(arguments, 0, rule.getRow().getNumArguments())));
  }

  RuleOp rule, average, result;
  OpBuilder builder;
  Location loc;
};

struct AddAverages : pdlc::impl::NNAddAveragesBase<AddAverages> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    uint64_t averaged = 0;
    for (GroupOp group : module.getOps<GroupOp>()) {
      if (!group.getAverageAttr())
        continue;
      if (failed(compose(group, symbols)))
        return signalPassFailure();
      ++averaged;
    }
    reportStatistic(*this, module, numAveraged, "groups-averaged", averaged);
  }

  LogicalResult compose(GroupOp group, SymbolTable &symbols) {
    auto rule = symbols.lookup<RuleOp>(group.getRule());
    auto average = symbols.lookup<RuleOp>(*group.getAverage());
    if (!rule || !average)
      return group.emitOpError()
             << "names "
             << (rule ? group.getAverageAttr() : group.getRuleAttr())
             << ", which the module does not define; run nn-link-std if it is "
                "one of the standard library";
    for (StringRef name : rule.getAllSlotNames().getAsValueRange<StringAttr>())
      if (name.starts_with("average"))
        return group.emitOpError()
               << "has an average, but its rule " << group.getRuleAttr()
               << " has a slot '" << name
               << "'; give that slot another name, which does not begin with "
                  "'average'";
    for (StringRef name : rule.getHyperNames().getAsValueRange<StringAttr>())
      if (name.starts_with(kPrefix))
        return group.emitOpError()
               << "has an average, but its rule " << group.getRuleAttr()
               << " has a hyper-parameter '" << name
               << "'; give it another name, which does not begin with '"
               << kPrefix << "'";
    if (rule.getFrozenSlotAttr())
      return group.emitOpError()
             << "has an average, but of its rule " << group.getRuleAttr()
             << " frozen programs read slot '" << *rule.getFrozenSlot()
             << "' already; remove one of them";
    Type written = average.getEach().getArgument(0).getType();
    if (written != rule.getEach().getArgument(0).getType())
      return group.emitOpError()
             << "has an average " << group.getAverageAttr()
             << ", whose region 'each' is written for " << written
             << ", unlike that of rule " << group.getRuleAttr()
             << "; write both for one type";

    RuleOp &both = composed[{rule, average}];
    if (!both) {
      both = Composition(rule, average).create();
      both->remove();
      symbols.insert(both, group->getIterator());
    }
    NamedAttrList hypers(group.getRuleHyperAttr());
    if (DictionaryAttr others = group.getAverageHyperAttr())
      for (NamedAttribute entry : others)
        hypers.append((kPrefix + entry.getName().getValue()).str(),
                      entry.getValue());
    group.setRuleAttr(FlatSymbolRefAttr::get(both.getSymNameAttr()));
    if (!hypers.empty())
      group.setRuleHyperAttr(hypers.getDictionary(&getContext()));
    group.removeAverageAttr();
    group.removeAverageHyperAttr();
    return success();
  }

  DenseMap<std::pair<Operation *, Operation *>, RuleOp> composed;
};
} // namespace
