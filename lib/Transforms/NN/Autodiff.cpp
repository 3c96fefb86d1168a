//===- Autodiff.cpp - Reverse-mode gradients of losses --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/ReverseMode.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_NNAUTODIFF
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Check that samples do not mix
//===----------------------------------------------------------------------===//

/// Returns true if an element of the result depends on several samples, and the
/// op is not one of those that are made for this (trait MixesSamples).
static bool mixesSamples(Operation &op) {
  if (op.hasTrait<MixesSamples>())
    return false;
  auto isDynamic = [](Value value, int64_t dimension) {
    return cast<RankedTensorType>(value.getType()).isDynamicDim(dimension);
  };
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return !reduce.getMixing() &&
           llvm::any_of(reduce.getAxes(), [&](int64_t axis) {
             return isDynamic(reduce.getInput(), axis);
           });
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return isDynamic(matmul.getLhs(), matmul.getTransposeLhs() ? 0 : 1);
  return false;
}

/// Checks that the loss of a sample does not depend on other samples. Otherwise
/// the sum of the losses over replicas would depend on how samples are divided
/// among replicas.
static LogicalResult rejectMixedSamples(MinimizeOp minimize) {
  SetVector<Value> slice;
  slice.insert(minimize.getLosses());
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i].getDefiningOp();
    // The ids of a bag belong to one sample, whatever their number.
    if (!op || isa<PoolOp>(op))
      continue;
    if (mixesSamples(*op)) {
      InFlightDiagnostic diagnostic =
          minimize.emitOpError("minimizes losses that mix samples; a loss is a "
                               "function of its own sample, so that replicas "
                               "with parts of a batch form the same sum (C1)");
      diagnostic.attachNote(op->getLoc()) << "samples are mixed here";
      return failure();
    }
    slice.insert(op->operand_begin(), op->operand_end());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Differentiation of one program
//===----------------------------------------------------------------------===//

namespace {
class Differentiator : public ReverseMode {
public:
  Differentiator(ProgramOp program, MinimizeOp minimize)
      : ReverseMode(OpBuilder(program.getBody().front().getTerminator())),
        minimize(minimize), body(program.getBody().front()),
        symbols(program->getParentOfType<ModuleOp>()) {}

  /// Replaces `nn.minimize` by the adjoint ops and an nn.apply_gradients.
  /// Returns the number of ops that were differentiated.
  FailureOr<unsigned> run() {
    if (failed(rejectMixedSamples(minimize)))
      return failure();
    findActiveValues();
    if (failed(checkWeights()))
      return failure();
    seed();
    unsigned differentiated = 0;
    SmallVector<Operation *> forward;
    for (Operation &op : body) {
      if (&op == minimize)
        break;
      forward.push_back(&op);
    }
    for (Operation *op : llvm::reverse(forward)) {
      if (trained.contains(op))
        continue;
      FailureOr<bool> reached = differentiate(*op);
      if (failed(reached))
        return failure();
      differentiated += *reached;
    }
    foldUnitSeed();
    if (failed(apply()))
      return failure();
    return differentiated;
  }

private:
  /// Marks the float values that depend smoothly on a trained symbol.
  void findActiveValues() {
    for (Operation &op : body) {
      FlatSymbolRefAttr symbol;
      if (auto read = dyn_cast<ReadOp>(op))
        symbol = read.getSymbolAttr();
      else if (auto pull = dyn_cast<PullOp>(op))
        symbol = pull.getTableAttr();
      if (symbol) {
        FlatSymbolRefAttr group = groupOf(symbols.lookup(symbol.getValue()));
        if (!group || !llvm::is_contained(minimize.getGroups(), group))
          continue;
        trained.insert(&op);
        active.insert(op.getResult(0));
        continue;
      }
      activate(op);
    }
  }

  LogicalResult checkWeights() {
    Value weights = minimize.getWeights();
    if (!weights || !active.contains(weights))
      return success();
    return minimize.emitOpError(
        "weighs losses with values that depend on trained symbols, whose "
        "gradient would be lost; put nn.stop_gradient before the weights if "
        "that is meant (C4)");
  }

  /// Sets the cotangents of the losses to their weights, because the pass
  /// differentiates the weighted sum of the losses.
  void seed() {
    Value losses = minimize.getLosses();
    if (!isNeeded(losses))
      return;
    if (Value weights = minimize.getWeights()) {
      cotangents[losses] = weights;
      return;
    }
    auto type = cast<RankedTensorType>(losses.getType());
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Attribute one = opBuilder.getFloatAttr(type.getElementType(), 1);
    auto number = ConstantOp::create(opBuilder, minimize.getLoc(),
                                     DenseElementsAttr::get(scalar, one));
    unitSeed =
        BroadcastOp::create(opBuilder, minimize.getLoc(), type, number, losses);
    cotangents[losses] = unitSeed.getResult();
  }

  /// Removes multiplications by the unit seed: 1 * x is bit-identical to x.
  void foldUnitSeed() {
    if (!unitSeed)
      return;
    for (Operation *user : llvm::make_early_inc_range(unitSeed->getUsers())) {
      auto product = dyn_cast<MulOp>(user);
      if (!product)
        continue;
      Value other = product.getLhs() == unitSeed.getResult() ? product.getRhs()
                                                             : product.getLhs();
      if (other.getType() != product.getType())
        continue;
      for (auto &entry : cotangents)
        if (entry.second == product.getResult())
          entry.second = other;
      product.replaceAllUsesWith(other);
      product.erase();
    }
    if (unitSeed->use_empty() && llvm::none_of(trained, [&](Operation *op) {
          return cotangent(op->getResult(0)) == unitSeed.getResult();
        })) {
      Operation *number = unitSeed.getInput().getDefiningOp();
      unitSeed.erase();
      number->erase();
    }
  }

  /// Passes the gradients of all reached symbols on, in order of declaration.
  LogicalResult apply() {
    DenseMap<StringAttr, Operation *> reads;
    DenseSet<Attribute> reached;
    for (Operation *op : trained) {
      auto pull = dyn_cast<PullOp>(op);
      FlatSymbolRefAttr symbol =
          pull ? pull.getTableAttr() : cast<ReadOp>(op).getSymbolAttr();
      if (!cotangent(op->getResult(0)))
        continue;
      reads[symbol.getAttr()] = op;
      reached.insert(groupOf(symbols.lookup(symbol.getValue())));
    }
    for (Attribute group : minimize.getGroups())
      if (!reached.contains(group))
        return minimize.emitOpError()
               << "trains " << group
               << ", but no symbol of that group contributes to the losses; "
                  "use one, or take the group off the list (C3)";
    SmallVector<SymbolGradient> gradients;
    for (Operation &op : *minimize->getParentOfType<ModuleOp>().getBody()) {
      auto name =
          op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
      Operation *read = name ? reads.lookup(name) : nullptr;
      if (!read)
        continue;
      auto pull = dyn_cast<PullOp>(read);
      gradients.push_back(
          {FlatSymbolRefAttr::get(name),
           pull ? withCounts(pull) : cotangent(read->getResult(0)),
           pull ? pull.getKeys() : Value()});
    }
    ApplyGradientsOp::create(opBuilder, minimize.getLoc(), minimize.getLosses(),
                             minimize.getWeights(), gradients,
                             minimize.getGroupsAttr());
    minimize.erase();
    return success();
  }

  /// Returns the gradient of the pulled rows. Each row is followed by its
  /// counts, if values are counted for the table (nn.count), and by the number
  /// of occurrences of its key, if the table admits keys by count. These
  /// columns are computed like gradients of pooling with `sum`.
  Value withCounts(PullOp pull) {
    SmallVector<Value> parts{cotangent(pull.getRows())};
    if (Value sums = countsOf(pull))
      parts.push_back(sums);
    auto table = symbols.lookup<TableOp>(pull.getTable());
    if (table.getAdmitCount())
      parts.push_back(occurrencesOf(pull));
    if (parts.size() == 1)
      return parts.front();
    return ConcatOp::create(opBuilder, pull.getLoc(), parts, /*axis=*/1);
  }

  /// Returns the number of occurrences of each pulled key in the bags that
  /// `nn.pool` pools from the rows of `pull`, as a tensor of shape [keys, 1].
  Value occurrencesOf(PullOp pull) {
    Location loc = pull.getLoc();
    Type element = elementTypeOf(pull.getRows().getType());
    auto scalar = RankedTensorType::get({}, element);
    Value one = ConstantOp::create(
        opBuilder, loc,
        DenseElementsAttr::get(scalar, opBuilder.getFloatAttr(element, 1)));
    auto column = RankedTensorType::get({ShapedType::kDynamic, 1}, element);
    Value sum;
    for (PoolOp pool : body.getOps<PoolOp>()) {
      if (pool.getRows() != pull.getRows())
        continue;
      SmallVector<PoolInput> inputs = pool.getInputs();
      for (auto [number, input] : llvm::enumerate(inputs)) {
        input.pooling = Pooling::sum;
        input.cotangent = BroadcastOp::create(opBuilder, loc, column, one,
                                              pool.getResult(number));
      }
      Value ofPool = PoolGradientOp::create(opBuilder, loc, column,
                                            pool.getDeduplication(), inputs);
      sum = sum ? AddOp::create(opBuilder, loc, column, sum, ofPool).getResult()
                : ofPool;
    }
    return sum;
  }

  /// Returns, for each pulled row, the sums of the values that are counted for
  /// it. Returns null if nothing is counted.
  Value countsOf(PullOp pull) {
    PoolOp pool;
    SmallVector<PoolInput> inputs;
    Type counts;
    for (CountPooledOp count :
         llvm::make_early_inc_range(body.getOps<CountPooledOp>())) {
      auto pooled = cast<OpResult>(count.getPooled());
      auto owner = cast<PoolOp>(pooled.getOwner());
      if (owner.getRows() != pull.getRows())
        continue;
      if (!pool) {
        pool = owner;
        inputs = pool.getInputs();
      }
      PoolInput &input = inputs[pooled.getResultNumber()];
      input.pooling = Pooling::sum;
      Value values = count.getValues();
      counts = values.getType();
      if (input.cotangent)
        values = AddOp::create(opBuilder, count.getLoc(), counts,
                               input.cotangent, values);
      input.cotangent = values;
      count.erase();
    }
    if (!pool)
      return Value();
    return PoolGradientOp::create(opBuilder, pool.getLoc(), counts,
                                  pool.getDeduplication(), inputs);
  }

  MinimizeOp minimize;
  Block &body;
  SymbolTable symbols;
  BroadcastOp unitSeed;
  /// Reads and pulls of trained symbols.
  SetVector<Operation *> trained;
};

//===----------------------------------------------------------------------===//
// Accumulated sums
//===----------------------------------------------------------------------===//

/// Replaces the ops that accumulate into states by an nn.apply_gradients for
/// each group of states.
class Accumulation {
public:
  explicit Accumulation(ProgramOp program)
      : symbols(program->getParentOfType<ModuleOp>()),
        body(program.getBody().front()), builder(body.getTerminator()) {}

  LogicalResult run() {
    for (auto minimize : body.getOps<MinimizeOp>())
      for (Attribute group : minimize.getGroups())
        minimized[group] = minimize;
    for (auto op : body.getOps<AccumulateOp>())
      if (failed(take(op)))
        return failure();
    for (auto &[group, ops] : byGroup) {
      apply(cast<FlatSymbolRefAttr>(group), ops);
      for (AccumulateOp op : ops)
        op.erase();
    }
    return success();
  }

private:
  LogicalResult take(AccumulateOp op) {
    FlatSymbolRefAttr name = op.getStateAttr();
    FlatSymbolRefAttr group = groupOf(symbols.lookup(name.getValue()));
    auto fail = [&](Operation *other, const Twine &why) {
      InFlightDiagnostic diagnostic = op.emitOpError() << why << " (C3)";
      diagnostic.attachNote(other->getLoc()) << "the other one is here";
      return diagnostic;
    };
    if (Operation *minimize = minimized.lookup(group))
      return fail(minimize, "accumulates into @" + name.getValue() +
                                ", whose group an nn.minimize trains; put "
                                "states into a group of their own");
    SmallVector<AccumulateOp> &ops = byGroup[group];
    for (AccumulateOp other : ops)
      if (other.getStateAttr() == name)
        return fail(other, "accumulates into @" + name.getValue() +
                               " a second time; add the values up, or give "
                               "what accumulates, as nn.batch_norm does each "
                               "time it is called, states of its own");
    if (!ops.empty() && ops.front().getWeights() != op.getWeights())
      return fail(ops.front(),
                  "accumulates into @" + name.getValue() +
                      " with other weights than into another state of its "
                      "group; put it into a group of its own");
    ops.push_back(op);
    return success();
  }

  void apply(FlatSymbolRefAttr group, MutableArrayRef<AccumulateOp> ops) {
    DenseMap<Operation *, unsigned> order;
    for (Operation &symbol : *body.getParentOp()->getBlock())
      order.try_emplace(&symbol, order.size());
    llvm::sort(ops, [&](AccumulateOp a, AccumulateOp b) {
      return order.lookup(symbols.lookup(a.getState())) <
             order.lookup(symbols.lookup(b.getState()));
    });
    AccumulateOp first = ops.front();
    auto type = cast<RankedTensorType>(first.getValues().getType());
    auto column =
        RankedTensorType::get({ShapedType::kDynamic, 1}, type.getElementType());
    // nn.apply_gradients requires losses. Ones serve as losses here; they are
    // not reported.
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value number = ConstantOp::create(
        builder, first.getLoc(),
        DenseElementsAttr::get(
            scalar, Attribute(builder.getFloatAttr(type.getElementType(), 1))));
    Value ones = BroadcastOp::create(builder, first.getLoc(), column, number,
                                     first.getValues());
    SmallVector<SymbolGradient> sums;
    for (AccumulateOp op : ops)
      sums.push_back({op.getStateAttr(), sumOf(op), Value()});
    ApplyGradientsOp::create(builder, first.getLoc(), ones, first.getWeights(),
                             sums, builder.getArrayAttr({group}));
  }

  /// Returns the sum of weight times value over the samples.
  Value sumOf(AccumulateOp op) {
    Value values = op.getValues();
    if (Value weights = op.getWeights()) {
      auto type = cast<RankedTensorType>(values.getType());
      SmallVector<int64_t> shape(type.getRank(), 1);
      shape.front() = ShapedType::kDynamic;
      auto like = RankedTensorType::get(shape, type.getElementType());
      if (weights.getType() != like)
        weights = ReshapeOp::create(builder, op.getLoc(), like, weights);
      values = MulOp::create(builder, op.getLoc(), values, weights);
    }
    return ReduceOp::create(builder, op.getLoc(), Reduction::sum, values,
                            ArrayRef<int64_t>{0}, /*keep=*/false);
  }

  SymbolTable symbols;
  Block &body;
  OpBuilder builder;
  DenseMap<Attribute, Operation *> minimized;
  llvm::MapVector<Attribute, SmallVector<AccumulateOp>> byGroup;
};

/// Checks that all gradients of a global norm are divided by the same weight.
LogicalResult checkClips(ProgramOp program) {
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  DenseMap<Attribute, Operation *> clipped;
  for (auto minimize : program.getBody().getOps<MinimizeOp>())
    for (auto name : minimize.getGroups().getAsRange<FlatSymbolRefAttr>()) {
      auto group = symbols.lookup<GroupOp>(name.getValue());
      FlatSymbolRefAttr clip = group.getClipAttr();
      if (!clip || symbols.lookup<ClipOp>(clip.getValue()).getKind() !=
                       ClipKind::global_norm)
        continue;
      auto [first, isNew] = clipped.try_emplace(clip, minimize);
      if (isNew || first->second == minimize)
        continue;
      InFlightDiagnostic diagnostic =
          minimize.emitOpError()
          << "trains group " << name << ", whose joint clip " << clip
          << " is also that of a group which another nn.minimize trains; give "
             "each its own nn.clip (C5)";
      diagnostic.attachNote(first->second->getLoc()) << "that one is here";
      return diagnostic;
    }
  return success();
}

/// Reports an error for rows that are counted but not trained. Counts are
/// applied together with the update of their rows, so nothing would apply them.
/// Counts of trained rows have been erased before.
LogicalResult checkCounts(ProgramOp program) {
  for (auto count : program.getBody().getOps<CountPooledOp>())
    return count.emitOpError()
           << "counts rows of " << count.getTableAttr()
           << ", which no nn.minimize of @" << program.getSymName()
           << " trains; counts are applied with the update of their rows "
              "(nn.count, C1)";
  return success();
}

/// Adds a metric that reports the mean of a loss. Used for all losses except
/// the first one of a program, which is reported as the loss of the program.
void reportLoss(MinimizeOp minimize) {
  auto program = minimize->getParentOfType<ProgramOp>();
  OpBuilder builder(program);
  auto group = cast<FlatSymbolRefAttr>(minimize.getGroups()[0]);
  auto metric = MetricOp::create(
      builder, minimize.getLoc(),
      ("loss of " + group.getValue() + " in " + program.getSymName()).str(),
      MeanAttr::get(builder.getContext()));
  SymbolTable(program->getParentOfType<ModuleOp>()).insert(metric);
  builder.setInsertionPoint(minimize);
  ObserveOp::create(builder, minimize.getLoc(),
                    FlatSymbolRefAttr::get(metric.getSymNameAttr()),
                    minimize.getLosses(), Value(), minimize.getWeights(),
                    /*group=*/Value());
}

/// Warns of symbols that programs read and whose groups are trained, but that
/// get no gradient.
class UnreachedSymbols {
public:
  /// Finds the symbols that programs read, and the groups that they train. Must
  /// be called before differentiation.
  explicit UnreachedSymbols(ModuleOp module) : module(module) {
    for (ProgramOp program : module.getOps<ProgramOp>())
      for (Operation &op : program.getBody().front()) {
        if (auto minimize = dyn_cast<MinimizeOp>(op))
          trained.insert_range(minimize.getGroups());
        else if (auto read = dyn_cast<ReadOp>(op))
          known.insert(read.getSymbolAttr().getAttr());
        else if (auto pull = dyn_cast<PullOp>(op))
          known.insert(pull.getTableAttr().getAttr());
      }
  }

  /// Emits the warnings. Must be called after differentiation.
  void warn() {
    DenseSet<Attribute> reached;
    for (ProgramOp program : module.getOps<ProgramOp>())
      for (auto apply : program.getBody().getOps<ApplyGradientsOp>())
        for (const SymbolGradient &gradient : apply.getSymbolGradients())
          reached.insert(gradient.symbol.getAttr());
    for (Operation &op : *module.getBody()) {
      if (!op.hasTrait<HoldsState>())
        continue;
      FlatSymbolRefAttr group = groupOf(&op);
      StringAttr name = SymbolTable::getSymbolName(&op);
      if (!group || !trained.contains(group) || !known.contains(name) ||
          reached.contains(name))
        continue;
      auto table = dyn_cast<TableOp>(op);
      op.emitWarning() << "no gradient reaches @" << name.getValue()
                       << ", although its group " << group
                       << " is trained, so that it "
                       << (table && table.hasLife()
                               ? "never gets a row"
                               : "keeps its initial values")
                       << ": no loss that trains the group depends on it; name "
                          "the group in the nn.minimize of a loss that does, "
                          "or take the symbol out of the group";
    }
  }

private:
  ModuleOp module;
  DenseSet<Attribute> trained, known;
};

struct Autodiff : pdlc::impl::NNAutodiffBase<Autodiff> {
  void runOnOperation() override {
    UnreachedSymbols unreached(getOperation());
    uint64_t differentiated = 0;
    for (ProgramOp program : getOperation().getOps<ProgramOp>()) {
      Accumulation accumulation(program);
      SmallVector<MinimizeOp> minimizes(program.getBody().getOps<MinimizeOp>());
      if (minimizes.empty())
        continue;
      if (failed(checkClips(program)) || failed(accumulation.run()))
        return signalPassFailure();
      SmallVector<Operation *> accumulated(
          program.getBody().getOps<ApplyGradientsOp>());
      for (MinimizeOp minimize : llvm::drop_begin(minimizes))
        reportLoss(minimize);
      for (MinimizeOp minimize : minimizes) {
        FailureOr<unsigned> count = Differentiator(program, minimize).run();
        if (failed(count))
          return signalPassFailure();
        differentiated += *count;
      }
      if (failed(checkCounts(program)))
        return signalPassFailure();
      // Updates come after all ops that read state. Those of nn.minimize come
      // first, because the first loss of a program is reported as its loss.
      Block &body = program.getBody().front();
      SmallVector<Operation *> applied(body.getOps<ApplyGradientsOp>());
      for (Operation *op : applied)
        if (!llvm::is_contained(accumulated, op))
          op->moveBefore(body.getTerminator());
      for (Operation *op : accumulated)
        op->moveBefore(body.getTerminator());
    }
    unreached.warn();
    reportStatistic(*this, getOperation(), numDifferentiated,
                    "ops-differentiated", differentiated);
  }
};
} // namespace
