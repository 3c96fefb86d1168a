//===- LoopElements.cpp - Elements that a loop computes -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace pdlc;

ArrayRef<int64_t> LoopElements::Leaf::shape() const {
  return tensor ? cast<RankedTensorType>(tensor.getType()).getShape()
                : numbers.getType().getShape();
}

LoopElements::LoopElements(Value tensor, ArrayRef<Operation *> ops,
                           StageEmitter &emitter)
    : emitter(emitter), tensor(tensor), ops(ops),
      type(cast<RankedTensorType>(tensor.getType())) {
  for (Operation *op : ops)
    collectLeaves(cast<ElementwiseOpInterface>(op));
  if (ops.empty())
    leafOf(tensor);
}

LoopElements::LoopElements(ArrayRef<Operation *> ops, StageEmitter &emitter)
    : LoopElements(ops.back()->getResult(0), ops, emitter) {}

LoopElements LoopElements::readBy(Operation *user, Value tensor,
                                  StageEmitter &emitter) {
  ArrayRef<Operation *> loop = emitter.plan.loopOf(user);
  if (!llvm::is_contained(loop, tensor.getDefiningOp()))
    loop = {};
  return {tensor, loop.empty() ? loop : loop.drop_back(), emitter};
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

unsigned LoopElements::leafOf(Value tensor) {
  for (auto [index, leaf] : llvm::enumerate(leaves))
    if (leaf.tensor == tensor)
      return index;
  leaves.emplace_back();
  leaves.back().tensor = tensor;
  return leaves.size() - 1;
}

unsigned LoopElements::leafOf(DenseElementsAttr numbers) {
  leaves.emplace_back();
  leaves.back().numbers = numbers;
  return leaves.size() - 1;
}

void LoopElements::collectLeaves(ElementwiseOpInterface op) {
  unsigned count = op.getNumElementOperands();
  for (unsigned i = 0; i < count; ++i)
    if (Value operand = op->getOperand(i);
        !llvm::is_contained(ops, operand.getDefiningOp()))
      operandLeaves[{op, i}] = leafOf(operand);
  for (DenseElementsAttr numbers : op.getScalarConstants())
    operandLeaves[{op, count++}] = leafOf(numbers);
}

bool LoopElements::varies(const Leaf &leaf, unsigned dimension) const {
  ArrayRef<int64_t> shape = leaf.shape();
  unsigned missing = type.getRank() - shape.size();
  return dimension >= missing && shape[dimension - missing] != 1;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Returns true if `tensor` has a gap in memory between dimensions `dimension`
/// and `next` of the result, so that these two cannot be joined. `next` is
/// after `dimension`.
bool LoopElements::hasGapBetween(Value tensor, unsigned dimension,
                                 unsigned next) const {
  std::optional<int64_t> run = emitter.runOf(tensor);
  if (!run)
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  unsigned missing = type.getRank() - shape.size();
  unsigned begin = missing + *runDimension(shape, *run);
  return dimension < begin && begin <= next;
}

void LoopElements::findDimensions(
    function_ref<bool(unsigned, unsigned)> canJoin) {
  std::optional<unsigned> last;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    if (size == 1)
      continue;
    Extent extent;
    if (ShapedType::isDynamic(size))
      extent = emitter.sizes.first(tensor);
    else
      extent.constant = size;
    auto writes = [&](Operation *op) {
      return !emitter.plan.isScalar(op->getResult(0)) &&
             hasGapBetween(op->getResult(0), *last, i);
    };
    bool joins =
        last && (!canJoin || canJoin(*last, i)) && llvm::none_of(ops, writes) &&
        llvm::all_of(leaves, [&](const Leaf &leaf) {
          return varies(leaf, *last) == varies(leaf, i) &&
                 !(leaf.tensor && hasGapBetween(leaf.tensor, *last, i));
        });
    last = i;
    if (joins) {
      extents.back() = extents.back().scaled(size);
      continue;
    }
    for (Leaf &leaf : leaves)
      if (varies(leaf, i))
        leaf.dimensions.push_back(extents.size());
    extents.push_back(extent);
    firsts.push_back(i);
  }
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Value LoopElements::viewOf(const Leaf &leaf) const {
  Extent first;
  first.constant = 1;
  SmallVector<int64_t> shape;
  for (auto [number, dimension] : llvm::enumerate(leaf.dimensions)) {
    if (number == 0)
      first = extents[dimension];
    else
      shape.push_back(extents[dimension].constant);
  }
  if (leaf.numbers)
    return emitter.viewAt(emitter.constant(leaf.numbers), emitter.index(0),
                          first, shape, type.getElementType());
  if (auto constant = leaf.tensor.getDefiningOp<nn::ConstantOp>())
    if (cast<DenseElementsAttr>(constant.getValue()).isSplat())
      return {};
  return emitter.view(leaf.tensor, first, shape);
}

Value LoopElements::viewOf(Value tensor) const {
  Leaf all;
  all.tensor = tensor;
  for (unsigned i = 0; i < extents.size(); ++i)
    all.dimensions.push_back(i);
  return viewOf(all);
}

void LoopElements::prepare() {
  for (Leaf &leaf : leaves) {
    leaf.isRow = leaf.tensor && emitter.plan.isScalar(leaf.tensor);
    if (leaf.isRow)
      continue;
    leaf.memory = viewOf(leaf);
    if (!leaf.memory) {
      auto constant = leaf.tensor.getDefiningOp<nn::ConstantOp>();
      leaf.loaded = arith::ConstantOp::create(
          emitter.builder,
          cast<TypedAttr>(cast<DenseElementsAttr>(constant.getValue())
                              .getSplatValue<Attribute>()));
    }
  }
  for (Leaf &leaf : leaves)
    if (leaf.memory && leaf.dimensions.empty())
      leaf.loaded = emitter.load(leaf.memory, emitter.index(0));
}

void LoopElements::bindRows(const DenseMap<Value, Value> &memories) {
  for (Leaf &leaf : leaves)
    if (leaf.isRow)
      leaf.memory = memories.at(leaf.tensor);
}

/// Loads the inputs that change between iterations, first those that depend
/// only on outer dimensions. Constants without memory are not loaded: each is
/// one number, whatever its shape.
void LoopElements::load(ValueRange position) {
  for (unsigned last = 0; last < extents.size(); ++last)
    for (Leaf &leaf : leaves) {
      if (!leaf.memory || leaf.dimensions.empty() ||
          leaf.dimensions.back() != last)
        continue;
      SmallVector<Value> indices;
      for (unsigned dimension : leaf.dimensions)
        indices.push_back(position[dimension]);
      if (leaf.isRow)
        indices.assign(1, varies(leaf, type.getRank() - 1) ? position.back()
                                                           : emitter.index(0));
      leaf.loaded = emitter.load(leaf.memory, indices);
    }
}

Value LoopElements::computeOp(ElementwiseOpInterface op,
                              const DenseMap<Value, Value> &known) {
  SmallVector<Value> operands;
  unsigned count = op.getNumElementOperands() + op.getScalarConstants().size();
  for (unsigned i = 0; i < count; ++i) {
    auto found = operandLeaves.find({op, i});
    operands.push_back(found != operandLeaves.end()
                           ? leaves[found->second].loaded
                           : known.at(op->getOperand(i)));
  }
  emitter.builder.setLoc(op->getLoc());
  return op.buildScalar(emitter.builder, operands);
}

DenseMap<Value, Value> LoopElements::compute(ValueRange position) {
  load(position);
  DenseMap<Value, Value> computed;
  for (Operation *op : ops)
    computed[op->getResult(0)] =
        computeOp(cast<ElementwiseOpInterface>(op), computed);
  return computed;
}

Value LoopElements::computeOne(ValueRange position) {
  DenseMap<Value, Value> computed = compute(position);
  return ops.empty() ? leaves.front().loaded : computed.at(tensor);
}
