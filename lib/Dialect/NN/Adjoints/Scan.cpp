//===- Scan.cpp - The gradient of a scan is a scan the other way ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body is differentiated as a program is. What its adjoint needs for states
// and inputs is the body of a scan in the other direction. What sums over rows,
// the gradients of tensors that all rows share, follows that scan: the same
// ops, on all rows at once.
//
//===----------------------------------------------------------------------===//

#include "AdjointUtils.h"
#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/NN/IR/ReverseMode.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

static bool isRow(Value value) { return !tensorOf(value).hasStaticShape(); }

namespace {

/// Builds the adjoint of the body of a scan into a block of its own, in which
/// values of the body stand as they are until `connect`.
class BodyAdjoint : public ReverseMode {
public:
  BodyAdjoint(ScanOp scan, AdjointBuilder &outer)
      : ReverseMode(OpBuilder(scan.getContext())), scan(scan), outer(outer),
        body(scan.getBody().front()), block(new Block) {
    opBuilder.setInsertionPointToEnd(block);
  }

  LogicalResult run() {
    findActive();
    seed();
    // Only results that depend on nothing trained have a cotangent.
    if (inputs.empty()) {
      discard();
      return success();
    }
    if (failed(differentiateBody())) {
      discard();
      return failure();
    }
    findSums();
    keepRows();
    connect();
    return success();
  }

private:
  void discard() {
    block->dropAllReferences();
    delete block;
  }
  void findActive();
  void seed();
  LogicalResult differentiateBody();
  void findSums();
  void keepRows();
  void connect();
  Value ofFirstRow(unsigned state, RankedTensorType ofBags);

  bool isOfBody(Value value) const { return value.getParentBlock() == &body; }
  /// Whether the rows of a value of the body are its results, if it has any.
  bool isYielded(Value value);
  Value addInput(Value rows);
  int64_t partsOf(Value value);
  Value apart(OpBuilder &builder, Value value);
  Value joined(OpBuilder &builder, Value value, Type type);
  Value rowsApart(Value value);
  Value rowsOf(Value value);
  Value insideOf(Value value);
  Value behind(Value value);
  void findOutput(Value value);
  Value cloneWith(Value value, OpBuilder &builder,
                  function_ref<Value(Value)> map);

  ScanOp scan, reverse;
  AdjointBuilder &outer;
  Block &body;
  Block *block; // the body of `reverse`, once there is one
  /// Operands of the reverse scan, in the order of the block's arguments.
  SmallVector<Value> inputs, shared;
  DenseMap<Value, Value> inputArguments;
  /// The arguments of states that hand a cotangent on, by the state.
  llvm::MapVector<unsigned, Value> carries;
  /// The ops of the block that sum over rows.
  llvm::SetVector<Operation *> sums;
  /// Rows of the block that are read behind the scan.
  llvm::SetVector<Value> outputs;
  /// The last op of those that are cloned into the front of the block.
  Operation *lastOfFront = nullptr;
  /// What values are in the block, behind the scan, and as rows of bags.
  DenseMap<Value, Value> insideValues, valuesBehind, rows;
  /// By value of which a row has several rows, as a linear layer makes them of
  /// a row of rank 3: what the body yields for it.
  DenseMap<Value, Value> yieldedApart;
};

} // namespace

/// Marks what depends, smoothly, on operands of the scan that want a cotangent.
void BodyAdjoint::findActive() {
  auto mark = [&](ArrayRef<BlockArgument> arguments, OperandRange operands) {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      if (outer.isNeeded(operand))
        active.insert(argument);
  };
  mark(scan.getInputArguments(), scan.getInputs());
  mark(scan.getSharedArguments(), scan.getShared());
  for (auto [state, init] : llvm::zip(scan.getStateArguments(), scan.getInit()))
    if (outer.isNeeded(init))
      active.insert(state);
  // States may depend on each other in a circle.
  for (bool grows = true; grows;) {
    grows = false;
    for (Operation &op : body.without_terminator())
      activate(op);
    for (auto [state, after] :
         llvm::zip(scan.getStateArguments(), scan.getYielded()))
      if (active.contains(after))
        grows |= active.insert(state).second;
  }
}

/// An argument of the block that is a row of these.
Value BodyAdjoint::addInput(Value ofBags) {
  Value &argument = inputArguments[ofBags];
  if (!argument) {
    argument =
        block->insertArgument(inputs.size(), ofBags.getType(), scan.getLoc());
    inputs.push_back(ofBags);
  }
  return argument;
}

/// What a row yields has the cotangent of that result, and a state what the row
/// behind it hands on.
void BodyAdjoint::seed() {
  for (auto [yielded, result] : llvm::zip(scan.getYielded(), scan.getRows()))
    if (isNeeded(yielded))
      if (Value given = outer.cotangent(result))
        accumulate(yielded, addInput(given));
  for (auto [number, state] : llvm::enumerate(scan.getStateArguments()))
    if (isNeeded(state)) {
      Value carry = block->addArgument(state.getType(), scan.getLoc());
      carries[number] = carry;
      accumulate(scan.getYielded()[number], carry);
    }
}

LogicalResult BodyAdjoint::differentiateBody() {
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (failed(differentiate(op)))
      return failure();
  return success();
}

/// Finds what sums over rows, and what is made of such sums.
void BodyAdjoint::findSums() {
  for (Operation &op : *block) {
    bool isOfRows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isRow(operand) || sums.contains(operand.getDefiningOp());
    });
    if (isOfRows && !llvm::all_of(op.getResults(), isRow))
      sums.insert(&op);
  }
}

/// How many rows a value of the body, or of the block, has for one row of the
/// bags: several where a reshape has joined dimensions with the first one.
int64_t BodyAdjoint::partsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isRow(value))
    return 1;
  Value of;
  for (Value operand : op->getOperands())
    if (isRow(operand)) {
      of = operand;
      break;
    }
  if (!of)
    return 1;
  auto elements = [](Value rows) {
    return ShapedType::getNumElements(tensorOf(rows).getShape().drop_front());
  };
  const int64_t parts = partsOf(of);
  return isa<ReshapeOp>(op) ? parts * elements(of) / elements(value) : parts;
}

/// The rows of a value that belong to one row of the bags, as one row.
Value BodyAdjoint::apart(OpBuilder &builder, Value value) {
  auto type = tensorOf(value);
  SmallVector<int64_t> shape{type.getDimSize(0), partsOf(value)};
  llvm::append_range(shape, type.getShape().drop_front());
  return ReshapeOp::create(builder, scan.getLoc(), type.clone(shape), value);
}

/// The opposite.
Value BodyAdjoint::joined(OpBuilder &builder, Value value, Type type) {
  return ReshapeOp::create(builder, scan.getLoc(), type, value);
}

/// A state is the row before of a result, but for the first row of a bag: where
/// that is no zero, the scan yields the state itself.
bool BodyAdjoint::isYielded(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return !argument || (!scan.getInit().empty() &&
                       llvm::is_contained(scan.getStateArguments(), argument));
}

/// Makes the scan give the rows of all values of its body that the adjoint
/// reads.
void BodyAdjoint::keepRows() {
  llvm::SetVector<Value> kept;
  for (Operation &op : *block)
    for (Value operand : op.getOperands())
      if (isOfBody(operand) && isYielded(operand) && isRow(operand) &&
          !llvm::is_contained(scan.getYielded(), operand))
        kept.insert(operand);
  if (kept.empty())
    return;
  SmallVector<Value> yielded(scan.getYielded());
  OpBuilder atEnd(body.getTerminator());
  for (Value value : kept)
    yielded.push_back(partsOf(value) == 1
                          ? value
                          : yieldedApart[value] = apart(atEnd, value));
  OpBuilder builder(scan);
  auto more = ScanOp::create(
      builder, scan.getLoc(), TypeRange(ValueRange(yielded)), scan.getInputs(),
      scan.getBags(), scan.getInit(), scan.getShared(), scan.getFromEnd());
  more.getBody().takeBody(scan.getBody());
  body.getTerminator()->setOperands(yielded);
  scan->replaceAllUsesWith(
      more->getResults().take_front(scan->getNumResults()));
  scan.erase();
  scan = more;
}

/// The rows of all bags of a value of the body, one for each row of the bags.
Value BodyAdjoint::rowsApart(Value value) {
  auto yielded = scan.getYielded();
  if (Value inParts = yieldedApart.lookup(value))
    value = inParts;
  return scan.getRows()[llvm::find(yielded, value) - yielded.begin()];
}

/// The rows of all bags of a value of the body.
Value BodyAdjoint::rowsOf(Value value) {
  if (Value known = rows.lookup(value))
    return known;
  Value found;
  if (isYielded(value)) {
    found = rowsApart(value);
    if (found.getType() != value.getType())
      found = joined(outer.builder(), found, value.getType());
  } else {
    const unsigned number = cast<BlockArgument>(value).getArgNumber();
    const unsigned first = scan.getInputs().size();
    if (number < first)
      found = scan.getInputs()[number];
    else
      // A state is what the row before left.
      found = SegmentShiftOp::create(
          outer.builder(), scan.getLoc(), value.getType(),
          scan.getRows()[number - first], scan.getBags(),
          scan.getFromEnd() ? -1 : 1);
  }
  return rows[value] = found;
}

/// Repeats what makes a value that is the same for all rows.
Value BodyAdjoint::cloneWith(Value value, OpBuilder &builder,
                             function_ref<Value(Value)> map) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, map(operand));
  return builder.clone(*op, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

/// What a value is within the block.
Value BodyAdjoint::insideOf(Value value) {
  if (!isOfBody(value))
    return value;
  if (Value known = insideValues.lookup(value))
    return known;
  Value found;
  auto atFrontOfBlock = [&] {
    OpBuilder builder(scan.getContext());
    builder.setInsertionPointToStart(block);
    if (lastOfFront)
      builder.setInsertionPointAfter(lastOfFront);
    return builder;
  };
  if (isRow(value) && yieldedApart.contains(value)) {
    OpBuilder atFront = atFrontOfBlock();
    found = joined(atFront, addInput(rowsApart(value)), value.getType());
    lastOfFront = found.getDefiningOp();
  } else if (isRow(value)) {
    found = addInput(rowsOf(value));
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number =
        argument.getArgNumber() - scan.getSharedArguments()[0].getArgNumber();
    found = block->addArgument(value.getType(), scan.getLoc());
    shared.push_back(scan.getShared()[number]);
  } else {
    OpBuilder atFront = atFrontOfBlock();
    found = cloneWith(value, atFront,
                      [&](Value operand) { return insideOf(operand); });
    lastOfFront = found.getDefiningOp();
  }
  return insideValues[value] = found;
}

/// What a value is behind the reverse scan.
Value BodyAdjoint::behind(Value value) {
  if (Operation *op = value.getDefiningOp(); op && sums.contains(op))
    return value;
  if (Value known = valuesBehind.lookup(value))
    return known;
  Value found;
  if (isOfBody(value) && isRow(value)) {
    found = rowsOf(value);
  } else if (isRow(value)) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getArgNumber() < inputs.size())
      found = inputs[argument.getArgNumber()];
    else
      found = reverse.getRows()[carries.size() +
                                (llvm::find(outputs, value) - outputs.begin())];
    if (found.getType() != value.getType())
      found = joined(outer.builder(), found, value.getType());
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number =
        argument.getArgNumber() - scan.getSharedArguments()[0].getArgNumber();
    found = scan.getShared()[number];
  } else {
    found = cloneWith(value, outer.builder(),
                      [&](Value operand) { return behind(operand); });
  }
  return valuesBehind[value] = found;
}

/// Has the scan yield a row of the block that is read behind it.
void BodyAdjoint::findOutput(Value value) {
  if (isOfBody(value) || !isRow(value))
    return;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getArgNumber() >= inputs.size())
    outputs.insert(value);
}

void BodyAdjoint::connect() {
  // Cotangents that are handed on.
  SmallVector<Value> next;
  for (auto [number, carry] : carries) {
    Value handedOn = cotangents.lookup(scan.getStateArguments()[number]);
    if (!handedOn)
      handedOn =
          BroadcastOp::create(opBuilder, scan.getLoc(), carry.getType(),
                              createNumber(opBuilder, scan.getLoc(),
                                           tensorOf(carry).getElementType(), 0),
                              carry);
    next.push_back(handedOn);
  }
  SmallVector<Operation *> inside;
  for (Operation &op : *block)
    if (!sums.contains(&op))
      inside.push_back(&op);
  for (Operation *op : inside)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(insideOf(operand.get()));
  for (Operation *sum : sums)
    for (Value operand : sum->getOperands())
      findOutput(operand);
  for (BlockArgument argument : scan.getInputArguments())
    if (Value found = cotangents.lookup(argument))
      findOutput(found);

  llvm::append_range(next, outputs);
  for (Value &value : next) {
    // What a body yields is a row of the bags.
    const int64_t parts = partsOf(value);
    value = insideOf(value);
    if (parts != 1)
      value = apart(opBuilder, value);
  }
  // A result has a cotangent, so there is an input.
  reverse = ScanOp::create(outer.builder(), scan.getLoc(),
                           TypeRange(ValueRange(next)), inputs, scan.getBags(),
                           /*init=*/ValueRange(), shared, !scan.getFromEnd());
  reverse.getBody().push_back(block);
  for (Operation *sum : sums) {
    SmallVector<Value> operands;
    for (Value operand : sum->getOperands())
      operands.push_back(behind(operand));
    sum->setOperands(operands);
    OpBuilder &builder = outer.builder();
    sum->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  }
  opBuilder.setInsertionPointToEnd(block);
  YieldOp::create(opBuilder, scan.getLoc(), next);
  for (auto [argument, operand] :
       llvm::zip(scan.getInputArguments(), scan.getInputs()))
    if (Value found = cotangents.lookup(argument))
      outer.accumulate(operand, behind(found));
  for (auto [argument, operand] :
       llvm::zip(scan.getSharedArguments(), scan.getShared()))
    if (Value found = cotangents.lookup(argument))
      outer.accumulate(operand, behind(found));
  for (auto [number, init] : llvm::enumerate(scan.getInit()))
    if (outer.isNeeded(init))
      outer.accumulate(init, ofFirstRow(number, tensorOf(init)));
}

/// What the first row of each bag hands on to the state before it.
Value BodyAdjoint::ofFirstRow(unsigned state, RankedTensorType ofBags) {
  const auto *carry = carries.find(state);
  Value handedOn = reverse.getRows()[carry - carries.begin()];
  SmallVector<int64_t> shape(ofBags.getShape());
  shape.insert(shape.begin() + 2, 1);
  Value first =
      SegmentPadOp::create(outer.builder(), scan.getLoc(), ofBags.clone(shape),
                           handedOn, scan.getBags(), scan.getFromEnd());
  return ReshapeOp::create(outer.builder(), scan.getLoc(), ofBags, first);
}

SmallVector<Value> ScanOp::getResiduals() {
  SmallVector<Value> residuals(getOperands());
  llvm::append_range(residuals, getRows());
  return residuals;
}

LogicalResult ScanOp::buildAdjoint(AdjointBuilder &adjoints) {
  return BodyAdjoint(*this, adjoints).run();
}
