//===- ExpandUpdates.cpp - Rules, clips and schedules, spelled out --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HyperValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Phases.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace pdlc {
#define GEN_PASS_DEF_NNEXPANDUPDATES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static Value createScalar(OpBuilder &builder, Location loc, Type type,
                          double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

/// Copies the ops of a region of scalars, with `arguments` for its arguments;
/// returns what it yields.
static SmallVector<Value> inlineRegion(OpBuilder &builder, Region &region,
                                       ValueRange arguments) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> yielded;
  for (Value value : region.front().getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

/// The hyper-parameters of a rule or schedule as constants: its own values,
/// except where the group's dictionary has others.
static SmallVector<Value> createHypers(OpBuilder &builder, Location loc,
                                       ArrayAttr names, ArrayRef<double> values,
                                       DictionaryAttr others) {
  SmallVector<Value> constants;
  for (double number : hyperValues(names, values, others))
    constants.push_back(
        createScalar(builder, loc, builder.getF64Type(), number));
  return constants;
}

//===----------------------------------------------------------------------===//
// One nn.apply_gradients
//===----------------------------------------------------------------------===//

namespace {
/// A symbol with its gradient.
struct Reached {
  FlatSymbolRefAttr name;
  GroupOp group;
  Value gradient, keys;
};

class UpdateExpansion {
public:
  UpdateExpansion(ApplyGradientsOp op, SymbolTable &symbols)
      : op(op), symbols(symbols), builder(op), loc(op.getLoc()) {}

  LogicalResult run() {
    auto lossSum =
        LossSumOp::create(builder, loc, op.getLosses(), op.getWeights());
    weight = lossSum.getWeight();
    collect();
    createNorms();
    for (auto name : op.getGroups().getAsRange<FlatSymbolRefAttr>())
      if (failed(createOnce(symbols.lookup<GroupOp>(name.getValue()))))
        return failure();
    for (Reached &symbol : reached)
      createUpdate(symbol);
    op.erase();
    return success();
  }

  unsigned getNumUpdates() const { return reached.size(); }

private:
  void collect() {
    auto keys = op.getKeys().begin();
    for (auto [name, gradient] :
         llvm::zip(op.getSymbols().getAsRange<FlatSymbolRefAttr>(),
                   op.getGradients())) {
      Operation *symbol = symbols.lookup(name.getValue());
      auto table = dyn_cast<TableOp>(symbol);
      FlatSymbolRefAttr group =
          table ? table.getGroupAttr() : cast<ParamOp>(symbol).getGroupAttr();
      reached.push_back({name, symbols.lookup<GroupOp>(group.getValue()),
                         gradient, table ? *keys++ : Value()});
    }
  }

  /// One squared norm for each clip, over all symbols whose groups name it.
  void createNorms() {
    for (auto name : op.getGroups().getAsRange<FlatSymbolRefAttr>()) {
      FlatSymbolRefAttr clip =
          symbols.lookup<GroupOp>(name.getValue()).getClipAttr();
      if (!clip || norms.contains(clip))
        continue;
      SmallVector<Attribute> names;
      SmallVector<Value> gradients, keys;
      for (Reached &symbol : reached)
        if (symbol.group.getClipAttr() == clip) {
          names.push_back(symbol.name);
          gradients.push_back(symbol.gradient);
          if (symbol.keys)
            keys.push_back(symbol.keys);
        }
      norms[clip] = SquaredNormOp::create(builder, loc, weight.getType(),
                                          builder.getArrayAttr(names),
                                          gradients, keys, weight);
    }
  }

  /// limit / max(norm, limit)
  Value createClipFactor(Value squaredNorm, FlatSymbolRefAttr clip) {
    auto clipOp = symbols.lookup<ClipOp>(clip.getValue());
    Location clipLoc = clipOp.getLoc();
    Value limit = createScalar(builder, clipLoc, builder.getF64Type(),
                               clipOp.getLimit().convertToDouble());
    Value norm = math::SqrtOp::create(builder, clipLoc, squaredNorm);
    Value larger = arith::MaximumFOp::create(builder, clipLoc, norm, limit);
    return arith::DivFOp::create(builder, clipLoc, limit, larger);
  }

  /// The rule that a group names; null, and diagnosed, if there is none for
  /// `element`.
  RuleOp findRule(GroupOp group, Type element) {
    auto rule = symbols.lookup<RuleOp>(group.getRule());
    if (!rule) {
      group.emitOpError()
          << "names rule " << group.getRuleAttr()
          << ", which the module does not define; run nn-link-std if it is "
             "one of the standard library";
      return nullptr;
    }
    Type written = rule.getEach().getArgument(0).getType();
    if (written == element)
      return rule;
    InFlightDiagnostic diagnostic =
        group.emitOpError() << "trains symbols of " << element << " by rule "
                            << group.getRuleAttr() << ", whose region 'each' "
                            << "is written for " << written;
    diagnostic.attachNote(rule.getLoc()) << "the rule is here";
    return nullptr;
  }

  LogicalResult createOnce(GroupOp group) {
    Type element =
        cast<RankedTensorType>(op.getLosses().getType()).getElementType();
    RuleOp rule = findRule(group, element);
    if (!rule)
      return failure();
    ScheduleOp schedule;
    if (FlatSymbolRefAttr name = group.getScheduleAttr()) {
      schedule = symbols.lookup<ScheduleOp>(name.getValue());
      if (!schedule)
        return group.emitOpError()
               << "names schedule " << name
               << ", which the module does not define; run nn-link-std if it "
                  "is one of the standard library";
    }
    FlatSymbolRefAttr clip = group.getClipAttr();
    Block &yieldsOnce = rule.getOnce().front();
    size_t scalars =
        1 + (clip ? 1 : 0) + yieldsOnce.getTerminator()->getNumOperands();
    Type scalar = RankedTensorType::get({}, element);
    auto once = OnceOp::create(builder, group.getLoc(),
                               SmallVector<Type>(scalars, scalar),
                               FlatSymbolRefAttr::get(group.getSymNameAttr()),
                               weight, clip ? norms[clip] : Value());

    OpBuilder::InsertionGuard guard(builder);
    Type f64 = builder.getF64Type();
    Block *body = builder.createBlock(&once.getBody(), {}, {f64, f64, f64},
                                      SmallVector<Location>(3, group.getLoc()));
    Value step = body->getArgument(0);
    SmallVector<Value> yielded{body->getArgument(1)};
    Value rate = createScalar(builder, group.getLoc(), f64,
                              group.getRate().convertToDouble());
    if (schedule) {
      SmallVector<Value> arguments{step, rate};
      llvm::append_range(arguments, createHypers(builder, group.getLoc(),
                                                 schedule.getHyperNames(),
                                                 schedule.getHyperValues(),
                                                 group.getScheduleHyperAttr()));
      rate = inlineRegion(builder, schedule.getBody(), arguments).front();
    }
    if (clip)
      yielded.push_back(createClipFactor(body->getArgument(2), clip));
    SmallVector<Value> arguments{step, rate};
    llvm::append_range(arguments,
                       createHypers(builder, group.getLoc(),
                                    rule.getHyperNames(), rule.getHyperValues(),
                                    group.getRuleHyperAttr()));
    llvm::append_range(yielded,
                       inlineRegion(builder, rule.getOnce(), arguments));
    YieldOp::create(builder, group.getLoc(), yielded);
    onces[group] = once;
    return success();
  }

  /// The gradient with the group's regularizers, in order.
  Value addDecay(GroupOp group, Value value, Value gradient) {
    Location groupLoc = group.getLoc();
    if (!group.getDecayAttr())
      return gradient;
    ImplicitLocOpBuilder decay(groupLoc, builder);
    for (auto regularizer :
         group.getDecayAttr().getAsRange<RegularizerAttrInterface>())
      gradient = arith::AddFOp::create(decay, gradient,
                                       regularizer.buildTerm(decay, value));
    return gradient;
  }

  void createUpdate(Reached &symbol) {
    GroupOp group = symbol.group;
    OnceOp once = onces[group];
    auto rule = symbols.lookup<RuleOp>(group.getRule());
    auto update = UpdateOp::create(builder, loc, symbol.name, symbol.keys,
                                   symbol.gradient, once.getScalars());

    OpBuilder::InsertionGuard guard(builder);
    Type element =
        cast<RankedTensorType>(symbol.gradient.getType()).getElementType();
    size_t slots = rule.getSlotNames().size();
    size_t count = 2 + slots + once.getScalars().size();
    Block *body = builder.createBlock(&update.getEach(), {},
                                      SmallVector<Type>(count, element),
                                      SmallVector<Location>(count, loc));
    ValueRange arguments = body->getArguments();
    Value value = arguments[0];
    ValueRange scalars = arguments.drop_front(2 + slots);
    Value gradient =
        arith::DivFOp::create(builder, loc, arguments[1], scalars.front());
    scalars = scalars.drop_front();
    if (group.getClipAttr()) {
      gradient = arith::MulFOp::create(builder, loc, gradient, scalars.front());
      scalars = scalars.drop_front();
    }
    SmallVector<Value> ruleArguments{value, addDecay(group, value, gradient)};
    llvm::append_range(ruleArguments, arguments.slice(2, slots));
    llvm::append_range(ruleArguments, scalars);
    YieldOp::create(builder, loc,
                    inlineRegion(builder, rule.getEach(), ruleArguments));
  }

  ApplyGradientsOp op;
  SymbolTable &symbols;
  OpBuilder builder;
  Location loc;
  Value weight;
  SmallVector<Reached> reached;
  DenseMap<Attribute, Value> norms;
  DenseMap<GroupOp, OnceOp> onces;
};

struct ExpandUpdates : pdlc::impl::NNExpandUpdatesBase<ExpandUpdates> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    uint64_t updates = 0;
    for (ProgramOp program : module.getOps<ProgramOp>())
      for (ApplyGradientsOp op : llvm::make_early_inc_range(
               program.getBody().getOps<ApplyGradientsOp>())) {
        UpdateExpansion expansion(op, symbols);
        if (failed(expansion.run()))
          return signalPassFailure();
        updates += expansion.getNumUpdates();
      }
    eraseUnnamed(module);
    module->setAttr(NNDialect::kPhaseAttrName,
                    StringAttr::get(&getContext(), stringify(Phase::Gradient)));
    reportStatistic(*this, module, numUpdates, "symbols-updated", updates);
  }

  /// A rule still declares the slots of the groups that name it; schedules,
  /// and rules that no group names, have nothing left to say.
  void eraseUnnamed(ModuleOp module) {
    llvm::StringSet<> named;
    for (GroupOp group : module.getOps<GroupOp>())
      named.insert(group.getRule());
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      auto rule = dyn_cast<RuleOp>(op);
      if (isa<ScheduleOp>(op) || (rule && !named.contains(rule.getSymName())))
        op.erase();
    }
  }
};
} // namespace
