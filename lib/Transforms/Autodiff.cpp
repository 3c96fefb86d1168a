//===- Autodiff.cpp - Gradients of losses, by reverse mode ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_NNAUTODIFF
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

//===----------------------------------------------------------------------===//
// Samples do not mix
//===----------------------------------------------------------------------===//

/// Whether an element of the result depends on several samples, though that is
/// not what the op is for.
static bool mixesSamples(Operation &op) {
  if (op.hasTrait<MixesSamples>())
    return false;
  auto isDynamic = [](Value value, int64_t dimension) {
    return cast<RankedTensorType>(value.getType()).isDynamicDim(dimension);
  };
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return llvm::any_of(reduce.getAxes(), [&](int64_t axis) {
      return isDynamic(reduce.getInput(), axis);
    });
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return isDynamic(matmul.getLhs(), matmul.getTransposeLhs() ? 0 : 1);
  return false;
}

/// Losses are summed over replicas, so each may depend on its own sample only.
static LogicalResult rejectMixedSamples(MinimizeOp minimize) {
  SetVector<Value> slice;
  slice.insert(minimize.getLosses());
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i].getDefiningOp();
    // Bags hold the ids of one sample, however many there are.
    if (!op || isa<PoolOp>(op))
      continue;
    if (mixesSamples(*op)) {
      InFlightDiagnostic diagnostic =
          minimize.emitOpError("minimises losses that mix samples; a loss is a "
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
// One program
//===----------------------------------------------------------------------===//

namespace {
class Differentiator : public AdjointBuilder {
public:
  Differentiator(ProgramOp program, MinimizeOp minimize)
      : minimize(minimize), body(program.getBody().front()),
        opBuilder(body.getTerminator()) {}

  /// Replaces `nn.minimize` by the adjoint program and nn.apply_gradients;
  /// returns the number of ops that were differentiated.
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
      bool reached = llvm::any_of(op->getResults(), [&](Value result) {
        return cotangents.contains(result);
      });
      if (!reached || trained.contains(op))
        continue;
      auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
      if (!differentiable) {
        op->emitOpError("has no gradient, but stands between a trained symbol "
                        "and the losses; put nn.stop_gradient before it, or "
                        "say the same with ops that have one");
        return failure();
      }
      if (failed(differentiable.buildAdjoint(*this)))
        return failure();
      ++differentiated;
    }
    foldUnitSeed();
    if (failed(apply()))
      return failure();
    return differentiated;
  }

  OpBuilder &builder() override { return opBuilder; }

  Value cotangent(Value result) override { return cotangents.lookup(result); }

  bool isNeeded(Value operand) override { return active.contains(operand); }

  void accumulate(Value operand, Value value) override {
    if (!isNeeded(operand))
      return;
    Value &sum = cotangents[operand];
    sum = sum ? AddOp::create(opBuilder, value.getLoc(), sum, value) : value;
  }

private:
  /// Marks what depends on a trained symbol, smoothly and through floats.
  void findActiveValues() {
    for (Operation &op : body) {
      FlatSymbolRefAttr symbol;
      if (auto read = dyn_cast<ReadOp>(op))
        symbol = read.getSymbolAttr();
      else if (auto pull = dyn_cast<PullOp>(op))
        symbol = pull.getTableAttr();
      if (symbol) {
        FlatSymbolRefAttr group =
            groupOf(SymbolTable::lookupNearestSymbolFrom(&op, symbol));
        if (!group || !llvm::is_contained(minimize.getGroups(), group))
          continue;
        trained.insert(&op);
        active.insert(op.getResult(0));
        continue;
      }
      auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
      bool depends = llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
        return active.contains(operand.get()) &&
               (!differentiable ||
                differentiable.isDifferentiable(operand.getOperandNumber()));
      });
      if (depends)
        for (Value result : op.getResults())
          if (isFloatTensor(result))
            active.insert(result);
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

  /// The weighted sum of losses is differentiated: a loss's cotangent is its
  /// weight.
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

  /// 1 * x has the bits of x.
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

  /// Hands the gradients of all reached symbols on, in order of declaration.
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
      reached.insert(groupOf(SymbolTable::lookupNearestSymbolFrom(op, symbol)));
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
      gradients.push_back({FlatSymbolRefAttr::get(name),
                           cotangent(read->getResult(0)),
                           pull ? pull.getKeys() : Value()});
    }
    ApplyGradientsOp::create(opBuilder, minimize.getLoc(), minimize.getLosses(),
                             minimize.getWeights(), gradients,
                             minimize.getGroupsAttr());
    minimize.erase();
    return success();
  }

  MinimizeOp minimize;
  Block &body;
  OpBuilder opBuilder;
  BroadcastOp unitSeed;
  /// The reads and pulls of symbols that are trained.
  SetVector<Operation *> trained;
  DenseSet<Value> active;
  DenseMap<Value, Value> cotangents;
};

struct Autodiff : pdlc::impl::NNAutodiffBase<Autodiff> {
  void runOnOperation() override {
    uint64_t differentiated = 0;
    for (ProgramOp program : getOperation().getOps<ProgramOp>()) {
      auto minimizes = program.getBody().getOps<MinimizeOp>();
      if (minimizes.empty())
        continue;
      FailureOr<unsigned> count =
          Differentiator(program, *minimizes.begin()).run();
      if (failed(count))
        return signalPassFailure();
      differentiated += *count;
    }
    reportStatistic(*this, getOperation(), numDifferentiated,
                    "ops-differentiated", differentiated);
  }
};
} // namespace
