//===- ExpandUpdates.cpp - Expand rules, clips and schedules --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HyperValues.h"
#include "ScalarRegions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "pdlabi/names.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/FloatConversion.h"
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

/// Creates constants for the hyper-parameters of a rule or schedule. `values`
/// are their defaults, which numbers in `others`, a dictionary of the group,
/// replace by name.
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
// Expansion of one nn.apply_gradients
//===----------------------------------------------------------------------===//

namespace {
class UpdateExpansion {
public:
  UpdateExpansion(ApplyGradientsOp op, SymbolTable &symbols)
      : op(op), gradients(op.getSymbolGradients()), symbols(symbols),
        builder(op), loc(op.getLoc()) {}

  LogicalResult run() {
    if (failed(checkClips()))
      return failure();
    auto lossSum =
        LossSumOp::create(builder, loc, op.getLosses(), op.getWeights());
    weight = lossSum.getWeight();
    createNorms();
    for (auto name : op.getGroups().getAsRange<FlatSymbolRefAttr>())
      if (failed(createOnce(symbols.lookup<GroupOp>(name.getValue()))))
        return failure();
    for (const SymbolGradient &gradient : gradients)
      if (failed(createUpdate(gradient)))
        return failure();
    op.erase();
    return success();
  }

  unsigned getNumUpdates() const { return gradients.size(); }

private:
  /// Returns the group that trains a symbol.
  GroupOp groupOfSymbol(FlatSymbolRefAttr symbol) {
    FlatSymbolRefAttr group = groupOf(symbols.lookup(symbol.getValue()));
    return symbols.lookup<GroupOp>(group.getValue());
  }

  /// Returns the group's clip if it is of that kind.
  ClipOp clipOf(GroupOp group, ClipKind kind) {
    FlatSymbolRefAttr name = group.getClipAttr();
    auto clip = name ? symbols.lookup<ClipOp>(name.getValue()) : ClipOp();
    return clip && clip.getKind() == kind ? clip : ClipOp();
  }

  FlatSymbolRefAttr jointClipOf(GroupOp group) {
    return clipOf(group, ClipKind::global_norm) ? group.getClipAttr()
                                                : FlatSymbolRefAttr();
  }

  LogicalResult checkClips() {
    for (auto name : op.getGroups().getAsRange<FlatSymbolRefAttr>()) {
      auto group = symbols.lookup<GroupOp>(name.getValue());
      if (clipOf(group, ClipKind::norm))
        return group.emitOpError(
            "is clipped by the norm of each symbol; run nn-split-clips first");
    }
    return success();
  }

  /// Creates the squared norm of each joint clip. It includes the gradients of
  /// all symbols whose groups name the clip.
  void createNorms() {
    DenseMap<Attribute, SmallVector<SymbolGradient>> clipped;
    for (const SymbolGradient &gradient : gradients) {
      GroupOp group = groupOfSymbol(gradient.symbol);
      elements.try_emplace(group, getElementTypeOrSelf(gradient.gradient));
      if (FlatSymbolRefAttr clip = jointClipOf(group))
        clipped[clip].push_back(gradient);
    }
    for (auto name : op.getGroups().getAsRange<FlatSymbolRefAttr>()) {
      FlatSymbolRefAttr clip =
          jointClipOf(symbols.lookup<GroupOp>(name.getValue()));
      if (clip && !norms.contains(clip))
        norms[clip] =
            SquaredNormOp::create(builder, loc, clipped[clip], weight);
    }
  }

  /// Computes limit / max(norm, limit).
  Value createClipFactor(Value squaredNorm, FlatSymbolRefAttr clip) {
    auto clipOp = symbols.lookup<ClipOp>(clip.getValue());
    Location clipLoc = clipOp.getLoc();
    Value limit = createScalar(builder, clipLoc, builder.getF64Type(),
                               clipOp.getLimit().convertToDouble());
    Value norm = math::SqrtOp::create(builder, clipLoc, squaredNorm);
    Value larger = arith::MaximumFOp::create(builder, clipLoc, norm, limit);
    return arith::DivFOp::create(builder, clipLoc, limit, larger);
  }

  /// Returns the rule that a group names. Reports an error and returns null if
  /// the module does not define it, or if it is not written for elements of
  /// type `element`.
  RuleOp findRule(GroupOp group, FlatSymbolRefAttr name, Type element) {
    auto rule = symbols.lookup<RuleOp>(name.getValue());
    if (!rule) {
      group.emitOpError()
          << "names rule " << name
          << ", which the module does not define; run nn-link-std if it is "
             "one of the standard library";
      return nullptr;
    }
    Type written = rule.getEach().getArgument(0).getType();
    if (written == element)
      return rule;
    InFlightDiagnostic diagnostic =
        group.emitOpError()
        << "trains symbols of " << element << " by rule " << name
        << ", whose region 'each' "
        << "is written for " << written << "; write a rule for " << element
        << ", or take one of the standard library, which "
           "is for both";
    diagnostic.attachNote(rule.getLoc()) << "the rule is here";
    return nullptr;
  }

  /// Checks the limit of a clip by value: if it is rounded to 0 in the type of
  /// the group's symbols, all gradients would be 0, and training would stop
  /// silently.
  LogicalResult checkLimit(GroupOp group, Type element) {
    ClipOp clip = clipOf(group, ClipKind::value);
    if (!clip || !convertFloat(clip.getLimit(),
                               cast<FloatType>(element).getFloatSemantics())
                      .isZero())
      return success();
    return clip.emitOpError() << "has a limit that is 0 in " << element
                              << ", the type of the symbols of group "
                              << FlatSymbolRefAttr::get(group.getSymNameAttr())
                              << "; write a larger one (C1)";
  }

  /// Clips the gradient to [-limit, limit] if the group clips by value.
  Value clipElement(GroupOp group, Value gradient) {
    ClipOp clip = clipOf(group, ClipKind::value);
    if (!clip)
      return gradient;
    double limit = clip.getLimit().convertToDouble();
    Type element = gradient.getType();
    Value most = createScalar(builder, clip.getLoc(), element, limit);
    Value least = createScalar(builder, clip.getLoc(), element, -limit);
    gradient =
        arith::MinimumFOp::create(builder, clip.getLoc(), gradient, most);
    return arith::MaximumFOp::create(builder, clip.getLoc(), gradient, least);
  }

  /// Returns the element type of the symbols of a group that are updated. If
  /// none is updated, returns the type of the losses.
  Type elementOf(GroupOp group) {
    Type found = elements.lookup(group);
    return found ? found : getElementTypeOrSelf(op.getLosses());
  }

  LogicalResult createOnce(GroupOp group) {
    Type element = elementOf(group);
    RuleOp rule = findRule(group, group.getRuleAttr(), element), compensation;
    if (!rule)
      return failure();
    if (FlatSymbolRefAttr name = group.getCompensationAttr()) {
      compensation = findRule(group, name, element);
      if (!compensation)
        return failure();
    }
    ScheduleOp schedule;
    if (FlatSymbolRefAttr name = group.getScheduleAttr()) {
      schedule = symbols.lookup<ScheduleOp>(name.getValue());
      if (!schedule)
        return group.emitOpError()
               << "names schedule " << name
               << ", which the module does not define; run nn-link-std if it "
                  "is one of the standard library";
    }
    if (failed(checkLimit(group, element)))
      return failure();
    FlatSymbolRefAttr clip = jointClipOf(group);
    SmallVector<Attribute> names{
        ScalarAttr::get(op.getContext(), ScalarRole::weight, {})};
    if (clip)
      names.push_back(
          ScalarAttr::get(op.getContext(), ScalarRole::clip_factor, {}));
    const auto addName = [&](const Twine &name) {
      names.push_back(ScalarAttr::get(op.getContext(), ScalarRole::rule,
                                      builder.getStringAttr(name)));
    };
    for (const std::string &name : rule.getScalarNames())
      addName(name);
    // The runtime warns if a schedule has reached 0.
    const bool returnsRate =
        schedule &&
        !llvm::is_contained(rule.getScalarNames(), pdlabi::rateScalarName);
    if (returnsRate)
      addName(pdlabi::rateScalarName);
    if (compensation)
      for (const std::string &name : compensation.getScalarNames())
        addName(name);
    Type scalar = RankedTensorType::get({}, element);
    auto once = OnceOp::create(
        builder, group.getLoc(), SmallVector<Type>(names.size(), scalar),
        FlatSymbolRefAttr::get(group.getSymNameAttr()), weight,
        clip ? norms[clip] : Value(), builder.getArrayAttr(names));

    OpBuilder::InsertionGuard guard(builder);
    Type f64 = builder.getF64Type();
    const bool isOverSenders = group.getRateOver() == RateOver::pushers;
    const size_t count = isOverSenders ? 4 : 3;
    builder.createBlock(&once.getBody(), {}, SmallVector<Type>(count, f64),
                        SmallVector<Location>(count, group.getLoc()));
    Value step = once.getStepArgument();
    SmallVector<Value> yielded{once.getWeightArgument()};
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
    if (isOverSenders)
      rate = arith::DivFOp::create(builder, group.getLoc(), rate,
                                   once.getSendersArgument());
    if (clip)
      yielded.push_back(createClipFactor(once.getSquaredNormArgument(), clip));
    SmallVector<Value> ruleArguments{step, rate};
    llvm::append_range(ruleArguments,
                       createHypers(builder, group.getLoc(),
                                    rule.getHyperNames(), rule.getHyperValues(),
                                    group.getRuleHyperAttr()));
    llvm::append_range(yielded,
                       inlineRegion(builder, rule.getOnce(), ruleArguments));
    if (returnsRate)
      yielded.push_back(rate);
    if (compensation) {
      SmallVector<Value> own{step, rate};
      llvm::append_range(own, createHypers(builder, group.getLoc(),
                                           compensation.getHyperNames(),
                                           compensation.getHyperValues(),
                                           group.getCompensationHyperAttr()));
      llvm::append_range(yielded,
                         inlineRegion(builder, compensation.getOnce(), own));
    }
    YieldOp::create(builder, group.getLoc(), yielded);
    onces[group] = once;
    return success();
  }

  /// Adds the group's regularizers, in order, to the gradient.
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

  /// Returns true if the group changes gradients by more than a factor: by
  /// regularizers, a clip by value, or delay compensation. These apply to the
  /// mean gradient, so the sum must be divided first. A clip by norm only
  /// multiplies by a factor.
  bool changesMeans(GroupOp group) {
    FlatSymbolRefAttr clip = group.getClipAttr();
    return group.getDecayAttr() || group.getCompensationAttr() ||
           (clip && symbols.lookup<ClipOp>(clip.getValue()).getKind() ==
                        ClipKind::value);
  }

  /// Returns true if the symbol is a table that admits keys by count, and so
  /// needs the number of occurrences of each key.
  bool admitsByCount(const SymbolGradient &symbol) {
    auto table = symbols.lookup<TableOp>(symbol.symbol.getValue());
    return table && table.getAdmitCount();
  }

  /// If the rule takes counts, checks that the symbol has them: it must be a
  /// table, and its gradient must have columns for the counts.
  LogicalResult checkCounts(GroupOp group, RuleOp rule,
                            const SymbolGradient &symbol) {
    if (rule.getCountNames().empty())
      return success();
    auto refuse = [&](StringRef kind) {
      return group.emitOpError()
             << "trains " << kind << " " << symbol.symbol << " by rule "
             << group.getRuleAttr() << ", which takes the counts "
             << rule.getCountNames() << " of each row; ";
    };
    if (!symbol.keys)
      return refuse("parameter")
             << "rows of tables alone have some: give parameters a group with "
                "another rule";
    auto table = symbols.lookup<TableOp>(symbol.symbol.getValue());
    if (cast<RankedTensorType>(symbol.gradient.getType()).getShape().back() ==
        table.getWidth() + admitsByCount(symbol))
      return refuse("table")
             << "add them by an nn.count in the program that trains";
    return success();
  }

  /// Checks that the rule of a table keeps or gets the numbers that the table's
  /// score is computed from: counts for admission, row slots for eviction.
  LogicalResult checkScore(GroupOp group, RuleOp rule,
                           const SymbolGradient &symbol) {
    auto table = symbols.lookup<TableOp>(symbol.symbol.getValue());
    if (!table || !table.getScoreAttr())
      return success();
    for (NamedAttribute weight : table.getScoreAttr())
      if (table.getAdmitScore() &&
          !llvm::is_contained(rule.getCountNames(), weight.getName()))
        return table.emitOpError()
               << "admits keys by a score with " << weight.getName()
               << ", and rule " << group.getRuleAttr()
               << " of its group has the counts " << rule.getCountNames()
               << "; take some of these, or a rule that counts, such as "
                  "@click_adagrad (C8)";
    if (!table.shrinksByScore())
      return success();
    for (NamedAttribute weight : table.getScoreAttr())
      if (!llvm::is_contained(rule.getRowSlotNames(), weight.getName()))
        return table.emitOpError()
               << "has a score with " << weight.getName() << ", and rule "
               << group.getRuleAttr() << " of its group has the row slots "
               << rule.getRowSlotNames()
               << "; take some of these, or a rule that counts, such as "
                  "@click_adagrad (C8)";
    return success();
  }

  /// Returns the values that the region `once` of the group's rule yields.
  static SmallVector<Value> scalarsOfRule(OnceOp once, RuleOp rule) {
    SmallVector<Value> scalars = once.getRuleScalars();
    scalars.truncate(rule.getScalarNames().size());
    return scalars;
  }

  /// Applies the group's delay compensation to `gradient`, which was computed
  /// for the value `seen`. `scalars` are those of the rule, followed by those
  /// of the compensation. If the value is still equal to `seen`, the gradient
  /// stays bit-identical.
  Value compensate(GroupOp group, Value value, Value gradient, Value seen,
                   ArrayRef<Value> scalars) {
    auto rule = symbols.lookup<RuleOp>(*group.getCompensation());
    SmallVector<Value> arguments{value, gradient, seen};
    llvm::append_range(arguments,
                       scalars.take_back(rule.getScalarNames().size()));
    Location groupLoc = group.getLoc();
    Value same = arith::CmpFOp::create(builder, groupLoc,
                                       arith::CmpFPredicate::OEQ, value, seen);
    Value compensated =
        inlineRegion(builder, rule.getEach(), arguments).front();
    return arith::SelectOp::create(builder, groupLoc, same, gradient,
                                   compensated);
  }

  LogicalResult createUpdate(const SymbolGradient &symbol) {
    GroupOp group = groupOfSymbol(symbol.symbol);
    OnceOp once = onces[group];
    auto rule = symbols.lookup<RuleOp>(group.getRule());
    if (rule.getWhole() && symbol.keys)
      return group.emitOpError()
             << "trains table " << symbol.symbol << " by rule "
             << group.getRuleAttr()
             << ", which reduces over a whole parameter: a table has no end; "
                "give tables a group with a rule of rows, such as "
                "@rowwise_lamb, or of elements";
    const auto counts = builder.getI64IntegerAttr(
        static_cast<int64_t>(rule.getCountNames().size()));
    if (failed(checkCounts(group, rule, symbol)) ||
        failed(checkScore(group, rule, symbol)))
      return failure();
    auto update = UpdateOp::create(
        builder, loc, symbol.symbol, symbol.keys, symbol.gradient, counts,
        once.getScalars(), rule.getWholeAttr(),
        group.getCompensationAttr() ? builder.getUnitAttr() : UnitAttr(),
        admitsByCount(symbol) ? builder.getUnitAttr() : UnitAttr());

    OpBuilder::InsertionGuard guard(builder);
    Type element =
        cast<RankedTensorType>(symbol.gradient.getType()).getElementType();
    const size_t slots = rule.getSlotNames().size(),
                 scalars = once.getScalars().size();
    const size_t ruleScalars = scalarsOfRule(once, rule).size();
    const size_t handedOn =
        rule.getEach().getNumArguments() - 2 - slots - ruleScalars;
    createElementRegion(update.getEach(), rule.getEach(), group, element, slots,
                        handedOn);
    if (!rule.hasRow())
      return success();
    createElementRegion(update.getSum(), rule.getSum(), group, element, slots,
                        0);
    // The arguments of the rule's region `row` before the scalars: the width,
    // the sums, the row slots and the counts.
    const size_t own = rule.getRow().getNumArguments() - ruleScalars;
    SmallVector<Type> types(rule.getRow().getArgumentTypes());
    types.truncate(own);
    types.append(scalars, element);
    builder.createBlock(&update.getRow(), {}, types,
                        SmallVector<Location>(types.size(), loc));
    ArrayRef<BlockArgument> arguments = update.getRow().getArguments();
    SmallVector<Value> ruleArguments(arguments.take_front(own));
    for (Value scalar : scalarsOfRule(once, rule))
      ruleArguments.push_back(
          arguments[own + cast<OpResult>(scalar).getResultNumber()]);
    YieldOp::create(builder, loc,
                    inlineRegion(builder, rule.getRow(), ruleArguments));
    return success();
  }

  /// Creates region `each` or `sum` of an update from that of the rule. The
  /// gradient is divided, clipped, compensated and regularized before the rule
  /// gets it. The last `handedOn` arguments, after the scalars of the group,
  /// come from region `row`.
  void createElementRegion(Region &region, Region &ofRule, GroupOp group,
                           Type element, size_t slots, size_t handedOn) {
    OnceOp once = onces[group];
    auto rule = cast<RuleOp>(ofRule.getParentOp());
    const bool isCompensated = bool(group.getCompensationAttr());
    const size_t inputs = isCompensated ? 3 : 2;
    const size_t count = inputs + slots + once.getScalars().size() + handedOn;
    builder.createBlock(&region, {}, SmallVector<Type>(count, element),
                        SmallVector<Location>(count, loc));
    ArrayRef<BlockArgument> arguments = region.getArguments();
    auto argumentOf = [&](Value scalar) {
      return arguments[inputs + slots +
                       cast<OpResult>(scalar).getResultNumber()];
    };
    Value value = arguments[0], gradient = arguments[1];
    Value weight = argumentOf(once.getWeightScalar());
    // Regularizers and limits of a group apply to mean gradients.
    const bool changesMean = rule.getUndivided() && changesMeans(group);
    if (!rule.getUndivided() || changesMean)
      gradient = arith::DivFOp::create(builder, loc, gradient, weight);
    if (Value factor = once.getClipFactorScalar())
      gradient =
          arith::MulFOp::create(builder, loc, gradient, argumentOf(factor));
    gradient = clipElement(group, gradient);
    SmallVector<Value> scalars;
    for (Value scalar : once.getRuleScalars())
      scalars.push_back(argumentOf(scalar));
    if (isCompensated)
      gradient = compensate(group, value, gradient, arguments[2], scalars);
    gradient = addDecay(group, value, gradient);
    if (changesMean)
      gradient = arith::MulFOp::create(builder, loc, gradient, weight);
    SmallVector<Value> ruleArguments{value, gradient};
    llvm::append_range(ruleArguments, arguments.slice(inputs, slots));
    scalars.truncate(scalarsOfRule(once, rule).size());
    llvm::append_range(ruleArguments, scalars);
    llvm::append_range(ruleArguments, arguments.take_back(handedOn));
    YieldOp::create(builder, loc, inlineRegion(builder, ofRule, ruleArguments));
  }

  ApplyGradientsOp op;
  SmallVector<SymbolGradient> gradients;
  /// Element type of the updated symbols, by group.
  DenseMap<Operation *, Type> elements;
  SymbolTable &symbols;
  OpBuilder builder;
  Location loc;
  Value weight;
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
    eraseValueClips(module);
    eraseUnnamed(module);
    module->setAttr(NNDialect::kPhaseAttrName,
                    StringAttr::get(&getContext(), stringify(Phase::Gradient)));
    reportStatistic(*this, module, numUpdates, "symbols-updated", updates);
  }

  /// Erases clips by value, because each update now contains them. Joint clips
  /// remain, because their norms are computed by other ops.
  static void eraseValueClips(ModuleOp module) {
    SymbolTable symbols(module);
    for (GroupOp group : module.getOps<GroupOp>())
      if (FlatSymbolRefAttr name = group.getClipAttr())
        if (symbols.lookup<ClipOp>(name.getValue()).getKind() ==
            ClipKind::value)
          group.removeClipAttr();
    for (ClipOp clip : llvm::make_early_inc_range(module.getOps<ClipOp>()))
      if (clip.getKind() == ClipKind::value)
        clip.erase();
  }

  /// Erases schedules, and rules that no group names as its rule. The others
  /// remain, because they declare slots.
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
