//===- Scan.cpp - Adjoint of nn.scan --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The adjoint of a scan is a scan in the other direction, the reverse scan. The
// body is differentiated like a program. Ops that compute cotangents of states
// and inputs become the body of the reverse scan. Ops that sum over rows, such
// as those for the gradients of shared tensors, run after the reverse scan, on
// all rows at once.
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

/// Builds the adjoint of a scan's body in a separate block, which becomes the
/// body of the reverse scan. Until `connect` is called, this block uses values
/// of the scan's body directly.
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
    // There is no input if no result that has a cotangent depends on trained
    // values.
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
  /// Returns true if the rows of a value of the body are, or can become, a
  /// result of the scan. Returns false if its rows are available anyway:
  /// inputs, shared tensors, and states that begin with zeros.
  bool isYielded(Value value);
  Value addInput(Value rows);
  int64_t partsOf(Value value);
  Value apart(OpBuilder &builder, Value value);
  Value joined(OpBuilder &builder, Value value, Type type);
  Value rowsApart(Value value);
  Value rowsOf(Value value);
  Value insideOf(Value value);
  Value valueAfter(Value value);
  void findOutput(Value value);
  Value cloneWith(Value value, OpBuilder &builder,
                  function_ref<Value(Value)> map);

  ScanOp scan, reverse;
  AdjointBuilder &outer;
  Block &body;
  Block *block; // Becomes the body of `reverse`.
  /// Operands of the reverse scan, in the order of the block's arguments.
  SmallVector<Value> inputs, shared;
  DenseMap<Value, Value> inputArguments;
  /// Arguments that carry the cotangents of states, by state.
  llvm::MapVector<unsigned, Value> carries;
  /// Ops of the block that sum over rows.
  llvm::SetVector<Operation *> sums;
  /// Rows of the block that are read after the scan.
  llvm::SetVector<Value> outputs;
  /// Last op among those cloned to the front of the block.
  Operation *lastOfFront = nullptr;
  /// Values as available in the block, after the scan, and as rows of bags.
  DenseMap<Value, Value> insideValues, valuesAfter, rows;
  /// Reshaped values, by value. If a value of the body has several rows for
  /// each row of the bags, the body yields it reshaped to one row. Linear
  /// layers create such values from rows of rank 3.
  DenseMap<Value, Value> yieldedApart;
};

} // namespace

/// Marks the values of the body that depend smoothly on an operand of the scan
/// whose cotangent is needed.
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
  // Repeats until nothing changes, because states may depend on each other
  // cyclically.
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

/// Returns the argument of the block for one row of `ofBags`.
Value BodyAdjoint::addInput(Value ofBags) {
  Value &argument = inputArguments[ofBags];
  if (!argument) {
    argument =
        block->insertArgument(inputs.size(), ofBags.getType(), scan.getLoc());
    inputs.push_back(ofBags);
  }
  return argument;
}

/// Sets the cotangents with which the differentiation of the body begins. The
/// cotangent of a yielded value is that of its result. A yielded state also
/// gets the cotangent that the reverse scan carries from the following row.
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

/// Finds the ops that sum over rows, and the ops that use such sums.
void BodyAdjoint::findSums() {
  for (Operation &op : *block) {
    bool isOfRows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isRow(operand) || sums.contains(operand.getDefiningOp());
    });
    if (isOfRows && !llvm::all_of(op.getResults(), isRow))
      sums.insert(&op);
  }
}

/// Returns how many rows a value of the body, or of the block of the adjoint,
/// has for each row of the bags. The number is above 1 if a reshape has joined
/// other dimensions with the first one.
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

/// Reshapes a value so that it has one row per row of the bags.
Value BodyAdjoint::apart(OpBuilder &builder, Value value) {
  auto type = tensorOf(value);
  SmallVector<int64_t> shape{type.getDimSize(0), partsOf(value)};
  llvm::append_range(shape, type.getShape().drop_front());
  return ReshapeOp::create(builder, scan.getLoc(), type.clone(shape), value);
}

/// Reverses `apart`.
Value BodyAdjoint::joined(OpBuilder &builder, Value value, Type type) {
  return ReshapeOp::create(builder, scan.getLoc(), type, value);
}

/// A state that begins with zeros needs no result of its own: at each row, it
/// is the result of the row before. If the scan has initial states, it must
/// yield the state itself.
bool BodyAdjoint::isYielded(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return !argument || (!scan.getInit().empty() &&
                       llvm::is_contained(scan.getStateArguments(), argument));
}

/// Makes the scan return the rows of each value of its body that the adjoint
/// reads, as additional results.
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

/// Returns a tensor with the rows of a value of the body, for all bags. It has
/// one row for each row of the bags.
Value BodyAdjoint::rowsApart(Value value) {
  auto yielded = scan.getYielded();
  if (Value inParts = yieldedApart.lookup(value))
    value = inParts;
  return scan.getRows()[llvm::find(yielded, value) - yielded.begin()];
}

/// Returns the rows of a value of the body for all bags.
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
      // The state is the result of the previous row.
      found = SegmentShiftOp::create(
          outer.builder(), scan.getLoc(), value.getType(),
          scan.getRows()[number - first], scan.getBags(),
          scan.getFromEnd() ? -1 : 1);
  }
  return rows[value] = found;
}

/// Clones the op that computes a value shared by all rows.
Value BodyAdjoint::cloneWith(Value value, OpBuilder &builder,
                             function_ref<Value(Value)> map) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, map(operand));
  return builder.clone(*op, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

/// Returns the value as available in the block.
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

/// Returns the value as available after the reverse scan.
Value BodyAdjoint::valueAfter(Value value) {
  if (Operation *op = value.getDefiningOp(); op && sums.contains(op))
    return value;
  if (Value known = valuesAfter.lookup(value))
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
                      [&](Value operand) { return valueAfter(operand); });
  }
  return valuesAfter[value] = found;
}

/// Adds `value`, which is read after the reverse scan, to the results of that
/// scan. Does nothing if it is not a row, or if its rows are available outside:
/// values of the original body, and inputs of the reverse scan.
void BodyAdjoint::findOutput(Value value) {
  if (isOfBody(value) || !isRow(value))
    return;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getArgNumber() >= inputs.size())
    outputs.insert(value);
}

void BodyAdjoint::connect() {
  // Cotangents for the next row.
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
    // A body must yield one row for each row of the bags. So a value that has
    // several rows is reshaped to one row.
    const int64_t parts = partsOf(value);
    value = insideOf(value);
    if (parts != 1)
      value = apart(opBuilder, value);
  }
  // At least one result has a cotangent, so there is an input.
  reverse = ScanOp::create(outer.builder(), scan.getLoc(),
                           TypeRange(ValueRange(next)), inputs, scan.getBags(),
                           /*init=*/ValueRange(), shared, !scan.getFromEnd());
  reverse.getBody().push_back(block);
  for (Operation *sum : sums) {
    SmallVector<Value> operands;
    for (Value operand : sum->getOperands())
      operands.push_back(valueAfter(operand));
    sum->setOperands(operands);
    OpBuilder &builder = outer.builder();
    sum->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  }
  opBuilder.setInsertionPointToEnd(block);
  YieldOp::create(opBuilder, scan.getLoc(), next);
  for (auto [argument, operand] :
       llvm::zip(scan.getInputArguments(), scan.getInputs()))
    if (Value found = cotangents.lookup(argument))
      outer.accumulate(operand, valueAfter(found));
  for (auto [argument, operand] :
       llvm::zip(scan.getSharedArguments(), scan.getShared()))
    if (Value found = cotangents.lookup(argument))
      outer.accumulate(operand, valueAfter(found));
  for (auto [number, init] : llvm::enumerate(scan.getInit()))
    if (outer.isNeeded(init))
      outer.accumulate(init, ofFirstRow(number, tensorOf(init)));
}

/// Returns the cotangent of an initial state. It is the cotangent that the
/// reverse scan yields at the first row of each bag.
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
