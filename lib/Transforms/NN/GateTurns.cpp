//===- GateTurns.cpp - Skip losses with zero weight -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

namespace pdlc {
#define GEN_PASS_DEF_NNGATETURNS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Returns the number by which all weights are multiplied, or to which all are
/// equal; null if there is none. If it is 0, all weights are 0.
static Value conditionOf(Value weights) {
  if (!weights)
    return {};
  if (auto product = weights.getDefiningOp<MulOp>()) {
    Value found = conditionOf(product.getRhs());
    return found ? found : conditionOf(product.getLhs());
  }
  auto broadcast = weights.getDefiningOp<BroadcastOp>();
  if (!broadcast || matchPattern(broadcast.getInput(), m_Constant()))
    return {};
  RankedTensorType type = tensorOf(broadcast.getInput());
  return type.hasStaticShape() && type.getNumElements() == 1
             ? broadcast.getInput()
             : Value();
}

namespace {

/// Tells when a value is needed.
struct Need {
  enum Kind { Never, Sometimes, Always } kind = Never;
  Value condition; // For Sometimes: needed if this is not 0.

  void join(Need other) {
    if (kind == Never)
      *this = other;
    else if (other.kind != Never && (kind == Always || other.kind == Always ||
                                     condition != other.condition))
      *this = {Always, Value()};
  }
};

/// Ops that move into one nn.if.
using Part = SmallVector<Operation *>;

class Gating {
public:
  explicit Gating(ProgramOp program) : body(program.getBody().front()) {}

  /// Returns the number of ops that moved into bodies.
  uint64_t run();

private:
  static Need needOf(Value condition) {
    return condition ? Need{Need::Sometimes, condition}
                     : Need{Need::Always, Value()};
  }
  Need needOf(OpOperand &use);
  void shortenLikes();
  void findNeeds();
  void findPrepared();
  bool mayMove(Operation &op);
  void findParts();
  void move(Value condition, const Part &part);
  void moveUsersAfter(Operation *gate);

  Block &body;
  DenseMap<Operation *, Need> needs;
  /// Ops on which the ids of lookups depend. They run in stage prepare, before
  /// the condition is known, and so must not move.
  DenseSet<Operation *> prepared;
  /// Ops to move into an `nn.if`, by condition and level. Ops that depend on
  /// each other through an op that does not move have different levels.
  llvm::MapVector<std::pair<Value, unsigned>, Part> parts;
};

} // namespace

static bool areFloats(ValueRange values) {
  return llvm::all_of(values, [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && isa<FloatType>(type.getElementType());
  });
}

static bool countsRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.isDynamicDim(0);
}

static int64_t elementsOfRow(Type type) {
  return ShapedType::getNumElements(
      cast<RankedTensorType>(type).getShape().drop_front());
}

/// Returns an operand that has as many rows as the result. Returns null if
/// there is none, if the op may change the number of rows, or if it works on
/// ids or bags.
static Value sameRows(Operation *op) {
  if (!op || !isPure(op) || op->getNumRegions() != 0 ||
      op->getNumResults() != 1 || !countsRows(op->getResult(0)) ||
      !areFloats(op->getOperands()))
    return {};
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return matmul.getTransposeLhs() ? Value() : matmul.getLhs();
  // A reshape must keep the number of rows: one that moves positions of a row
  // into the first dimension makes more rows.
  if (auto reshape = dyn_cast<ReshapeOp>(op);
      reshape && (!countsRows(reshape.getInput()) ||
                  elementsOfRow(reshape.getInput().getType()) !=
                      elementsOfRow(reshape.getType())))
    return {};
  auto found = llvm::find_if(op->getOperands(), countsRows);
  return found == op->getOperands().end() ? Value() : *found;
}

/// Replaces the operand `like` of broadcasts, of which only the number of rows
/// matters, by an earlier value with as many rows. The broadcast then does not
/// need the original value, which may not have to be computed at all.
void Gating::shortenLikes() {
  for (auto broadcast : body.getOps<BroadcastOp>()) {
    Value like = broadcast.getLike();
    while (Value before = like ? sameRows(like.getDefiningOp()) : Value())
      like = before;
    if (like)
      broadcast.getLikeMutable().assign(like);
  }
}

/// Returns the condition of the loss whose weight divides the update of `once`.
static Value conditionOf(OnceOp once) {
  auto sum = once.getWeight().getDefiningOp<LossSumOp>();
  return sum ? conditionOf(sum.getWeights()) : Value();
}

Need Gating::needOf(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto sum = dyn_cast<LossSumOp>(user))
    return needOf(use.get() == sum.getLosses() ? conditionOf(sum.getWeights())
                                               : Value());
  if (auto observe = dyn_cast<ObserveOp>(user))
    return needOf(use.get() == observe.getPredictions() ||
                          use.get() == observe.getLabels()
                      ? conditionOf(observe.getWeights())
                      : Value());
  if (auto update = dyn_cast<UpdateOp>(user)) {
    auto once = update.getScalars().empty()
                    ? OnceOp()
                    : update.getScalars().front().getDefiningOp<OnceOp>();
    return needOf(once && use.get() == update.getGradient() ? conditionOf(once)
                                                            : Value());
  }
  if (auto norm = dyn_cast<SquaredNormOp>(user)) {
    auto sum = norm.getWeight().getDefiningOp<LossSumOp>();
    return needOf(sum && use.get() != norm.getWeight()
                      ? conditionOf(sum.getWeights())
                      : Value());
  }
  if (!isPure(user))
    return {Need::Always, Value()};
  return needs.lookup(user);
}

void Gating::findNeeds() {
  for (Operation &op : llvm::reverse(body)) {
    Need need;
    if (op.getNumResults() == 0)
      need.kind = Need::Always;
    for (Value result : op.getResults())
      for (OpOperand &use : result.getUses())
        need.join(needOf(use));
    needs[&op] = need;
  }
}

void Gating::findPrepared() {
  for (Operation &op : llvm::reverse(body)) {
    if (!op.hasTrait<PreparesStep>() && !prepared.contains(&op))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp())
        prepared.insert(maker);
  }
}

bool Gating::mayMove(Operation &op) {
  return needs.lookup(&op).kind == Need::Sometimes && isPure(&op) &&
         !isa<ReadOp, PullOp, ConstantOp>(op) && IfOp::mayHold(op) &&
         areFloats(op.getOperands()) && areFloats(op.getResults()) &&
         !prepared.contains(&op);
}

void Gating::findParts() {
  // Counts how often a moved value has passed through an op that stays.
  DenseMap<Operation *, unsigned> levels;
  for (Operation &op : body) {
    const bool moves = mayMove(op);
    unsigned level = 0;
    for (Value operand : op.getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!maker)
        continue;
      const bool leaves = needs.lookup(maker).kind == Need::Sometimes &&
                          mayMove(*maker) &&
                          (!moves || needs.lookup(maker).condition !=
                                         needs.lookup(&op).condition);
      level = std::max(level, levels.lookup(maker) + leaves);
    }
    levels[&op] = level;
    if (moves)
      parts[{needs.lookup(&op).condition, level}].push_back(&op);
  }
}

namespace {

/// Number of rows of a value in a body: the rows of argument `of`, times
/// `times` / `divided`. `of` is null if the value has no dynamic dimension.
struct Rows {
  BlockArgument of;
  int64_t times = 1, divided = 1;
};

} // namespace

/// Returns the number of rows of a value, relative to an argument of `body`.
/// Follows the operands of ops with a dynamic first dimension. Of these ops,
/// only a reshape changes the number of rows, by joining other dimensions with
/// the rows or splitting them off.
static Rows rowsOf(Value value, Block &body) {
  Rows found;
  while (countsRows(value)) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &body) {
        found.of = argument;
        int64_t common = std::gcd(found.times, found.divided);
        found.times /= common;
        found.divided /= common;
        return found;
      }
      auto nested = cast<IfOp>(argument.getOwner()->getParentOp());
      value = nested.getInputs()[argument.getArgNumber()];
      continue;
    }
    Operation *maker = value.getDefiningOp();
    if (auto nested = dyn_cast<IfOp>(maker)) {
      value = nested.getTaken().front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber());
      continue;
    }
    Value from = *llvm::find_if(maker->getOperands(), countsRows);
    if (isa<ReshapeOp>(maker)) {
      found.times *= elementsOfRow(from.getType());
      found.divided *= elementsOfRow(value.getType());
    }
    value = from;
  }
  return found;
}

/// Creates zeros of type `type` with `rows` rows. `like` is the value of the
/// argument `rows.of`.
static Value createZeros(OpBuilder &builder, Location loc,
                         RankedTensorType type, const Rows &rows, Value like) {
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          scalar, Attribute(builder.getFloatAttr(type.getElementType(), 0))));
  auto matrix = [&](int64_t columns) {
    return RankedTensorType::get({ShapedType::kDynamic, columns},
                                 type.getElementType());
  };
  if (rows.times == 1 && rows.divided == 1)
    return BroadcastOp::create(builder, loc, type, zero, like);
  // Create a matrix that has `times` times as many columns, and reshape it to
  // rows of `columns` elements. Then join `divided` of these rows into one, of
  // which the first `columns` elements are the result.
  int64_t columns = elementsOfRow(type);
  auto reshaped = [&](Value value, RankedTensorType to) -> Value {
    return value.getType() == to ? value
                                 : ReshapeOp::create(builder, loc, to, value);
  };
  Value zeros = BroadcastOp::create(builder, loc, matrix(columns * rows.times),
                                    zero, like);
  zeros = reshaped(zeros, matrix(columns));
  zeros = reshaped(zeros, matrix(columns * rows.divided));
  if (rows.divided != 1)
    zeros = SliceOp::create(builder, loc, zeros, /*axis=*/1, /*offset=*/0,
                            /*size=*/columns);
  return reshaped(zeros, type);
}

void Gating::move(Value condition, const Part &part) {
  DenseSet<Operation *> members(part.begin(), part.end());
  llvm::SetVector<Value> inputs;
  SmallVector<Value> outputs;
  SmallVector<Operation *> constants;
  for (Operation *op : part) {
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (isa_and_nonnull<ConstantOp>(maker)) {
        if (members.insert(maker).second)
          constants.push_back(maker);
      } else if (!members.contains(maker)) {
        inputs.insert(operand);
      }
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          }))
        outputs.push_back(result);
  }
  // Insert after the last op and after the condition.
  Operation *place = part.back();
  if (Operation *maker = condition.getDefiningOp();
      maker && place->isBeforeInBlock(maker))
    place = maker;
  OpBuilder builder(place->getBlock(), std::next(place->getIterator()));
  Location loc = part.back()->getLoc();
  auto gate = IfOp::create(builder, loc, TypeRange(ValueRange(outputs)),
                           condition, inputs.getArrayRef());
  for (Region *region : {&gate.getTaken(), &gate.getOtherwise()}) {
    Block &block = region->emplaceBlock();
    for (Value input : inputs)
      block.addArgument(input.getType(), input.getLoc());
  }

  Block &taken = gate.getTaken().front();
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), taken.getArguments());
  builder.setInsertionPointToEnd(&taken);
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  for (Operation *op : part)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(builder, loc, yielded);

  Block &otherwise = gate.getOtherwise().front();
  builder.setInsertionPointToEnd(&otherwise);
  SmallVector<Value> zeros;
  for (Value value : yielded) {
    Rows rows = rowsOf(value, taken);
    Value like;
    if (rows.of)
      like = otherwise.getArgument(rows.of.getArgNumber());
    zeros.push_back(createZeros(builder, loc, tensorOf(value), rows, like));
  }
  YieldOp::create(builder, loc, zeros);

  for (auto [output, result] : llvm::zip_equal(outputs, gate.getResults()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(part))
    op->erase();
  moveUsersAfter(gate);
}

/// Moves each op that is before `gate` and uses one of its results, directly or
/// through another moved op, to a position after `gate`. Such ops exist because
/// the gate is inserted after the last op that it replaces.
void Gating::moveUsersAfter(Operation *gate) {
  DenseSet<Operation *> late{gate};
  Operation *last = gate;
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(body.begin(), gate->getIterator()))) {
    bool isLate = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        isLate |= late.contains(operand.getDefiningOp());
    });
    if (!isLate)
      continue;
    late.insert(&op);
    op.moveAfter(last);
    last = &op;
  }
}

uint64_t Gating::run() {
  shortenLikes();
  findNeeds();
  findPrepared();
  findParts();
  uint64_t moved = 0;
  for (auto &[key, part] : parts) {
    move(key.first, part);
    moved += part.size();
  }
  return moved;
}

namespace {
struct GateTurns : pdlc::impl::NNGateTurnsBase<GateTurns> {
  void runOnOperation() override {
    uint64_t moved = 0;
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      if (!program.getFrozen())
        moved += Gating(program).run();
    reportStatistic(*this, getOperation(), numOps, "ops-gated", moved);
  }
};
} // namespace
