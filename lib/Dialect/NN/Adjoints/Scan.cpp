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
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

static bool isRow(Value value) { return !tensorOf(value).hasStaticShape(); }

namespace {

/// Builds the adjoint of the body of a scan into a block of its own, in which
/// values of the body stand as they are until `connect`.
class BodyAdjoint : public AdjointBuilder {
public:
  BodyAdjoint(ScanOp scan, AdjointBuilder &outer)
      : scan(scan), outer(outer), body(scan.getBody().front()),
        block(new Block), opBuilder(scan.getContext()) {
    opBuilder.setInsertionPointToEnd(block);
  }

  LogicalResult run() {
    findActive();
    seed();
    if (failed(differentiate())) {
      block->dropAllReferences();
      delete block;
      return failure();
    }
    findSums();
    keepRows();
    connect();
    return success();
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
  void findActive();
  void seed();
  LogicalResult differentiate();
  void findSums();
  void keepRows();
  void connect();

  bool isOfBody(Value value) const { return value.getParentBlock() == &body; }
  Value addInput(Value rows);
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
  OpBuilder opBuilder;
  DenseSet<Value> active;
  DenseMap<Value, Value> cotangents;
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
  // States may depend on each other in a circle.
  for (bool grows = true; grows;) {
    grows = false;
    for (Operation &op : body.without_terminator()) {
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

LogicalResult BodyAdjoint::differentiate() {
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool reached = llvm::any_of(op.getResults(), [&](Value result) {
      return cotangents.contains(result);
    });
    if (!reached)
      continue;
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return op.emitOpError("has no gradient, but stands between a trained "
                            "symbol and the losses; put nn.stop_gradient "
                            "before it, or say the same with ops that have "
                            "one");
    if (failed(differentiable.buildAdjoint(*this)))
      return failure();
  }
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

/// Makes the scan give the rows of all values of its body that the adjoint
/// reads.
void BodyAdjoint::keepRows() {
  llvm::SetVector<Value> kept;
  for (Operation &op : *block)
    for (Value operand : op.getOperands())
      if (operand.getDefiningOp() && isOfBody(operand) && isRow(operand) &&
          !llvm::is_contained(scan.getYielded(), operand))
        kept.insert(operand);
  if (kept.empty())
    return;
  SmallVector<Value> yielded(scan.getYielded());
  llvm::append_range(yielded, kept);
  OpBuilder builder(scan);
  auto more = ScanOp::create(
      builder, scan.getLoc(), TypeRange(ValueRange(yielded)), scan.getInputs(),
      scan.getBags(), scan.getShared(), scan.getFromEnd());
  more.getBody().takeBody(scan.getBody());
  body.getTerminator()->setOperands(yielded);
  scan->replaceAllUsesWith(
      more->getResults().take_front(scan->getNumResults()));
  scan.erase();
  scan = more;
}

/// The rows of all bags of a value of the body.
Value BodyAdjoint::rowsOf(Value value) {
  if (Value known = rows.lookup(value))
    return known;
  Value found;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number = argument.getArgNumber();
    const unsigned first = scan.getInputs().size();
    if (number < first)
      found = scan.getInputs()[number];
    else
      // A state is what the row before left.
      found = SegmentShiftOp::create(
          outer.builder(), scan.getLoc(), value.getType(),
          scan.getRows()[number - first], scan.getBags(),
          scan.getFromEnd() ? -1 : 1);
  } else {
    auto yielded = scan.getYielded();
    found = scan.getRows()[llvm::find(yielded, value) - yielded.begin()];
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
  if (isRow(value)) {
    found = addInput(rowsOf(value));
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number =
        argument.getArgNumber() - scan.getSharedArguments()[0].getArgNumber();
    found = block->addArgument(value.getType(), scan.getLoc());
    shared.push_back(scan.getShared()[number]);
  } else {
    OpBuilder atFront(scan.getContext());
    atFront.setInsertionPointToStart(block);
    if (lastOfFront)
      atFront.setInsertionPointAfter(lastOfFront);
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
  for (Value &value : next)
    value = insideOf(value);
  // A result has a cotangent, so there is an input.
  reverse = ScanOp::create(outer.builder(), scan.getLoc(),
                           TypeRange(ValueRange(next)), inputs, scan.getBags(),
                           shared, !scan.getFromEnd());
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
}

SmallVector<Value> ScanOp::getResiduals() {
  SmallVector<Value> residuals(getOperands());
  llvm::append_range(residuals, getRows());
  return residuals;
}

LogicalResult ScanOp::buildAdjoint(AdjointBuilder &adjoints) {
  return BodyAdjoint(*this, adjoints).run();
}
