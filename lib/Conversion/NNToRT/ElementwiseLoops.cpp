//===- ElementwiseLoops.cpp - Loops of elementwise ops --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Elementwise ops that are fused with each other become one parallel loop over
// the elements of their results, which have one type. Dimensions that no operand broadcasts
// apart are joined, so that the last one runs over as much contiguous memory as
// there is. What is one number for all elements is loaded before the loop.
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace pdlc;

namespace {

/// What the loop reads: a tensor in a buffer, or numbers of an attribute.
struct Leaf {
  Value tensor;
  DenseElementsAttr numbers;
  /// The joined dimensions that it has; along the others it is repeated.
  SmallVector<unsigned> dimensions;
  Value memory; // null: a constant
  Value loaded;

  ArrayRef<int64_t> shape() const {
    return tensor ? cast<RankedTensorType>(tensor.getType()).getShape()
                  : numbers.getType().getShape();
  }
  unsigned depth() const {
    return dimensions.empty() ? 0 : dimensions.back() + 1;
  }
};

class ElementwiseLoop {
public:
  ElementwiseLoop(StageEmitter &emitter, ArrayRef<Operation *> ops)
      : emitter(emitter), ops(ops), result(ops.back()->getResult(0)),
        element(cast<RankedTensorType>(result.getType()).getElementType()) {}
  void emit();

private:
  void collectLeaves(ElementwiseOpInterface op);
  unsigned leafOf(Value tensor);
  unsigned leafOf(DenseElementsAttr numbers);
  bool varies(const Leaf &leaf, unsigned dimension) const;
  bool hasGapBetween(Value tensor, unsigned dimension, unsigned next) const;
  void joinDimensions();
  Value viewOf(Leaf &leaf);
  void loadLeaves(unsigned depth, ValueRange position);
  void emitTurn(ValueRange position);
  Value compute(ElementwiseOpInterface op,
                const DenseMap<Value, Value> &computed);

  StageEmitter &emitter;
  ArrayRef<Operation *> ops;
  Value result; // the last one; all have its type
  Type element;
  SmallVector<Leaf> leaves;
  DenseMap<std::pair<Operation *, unsigned>, unsigned> operandLeaves;
  SmallVector<Extent> extents; // of the joined dimensions
  SmallVector<Value> bounds;
  /// What others read, and where it is written.
  SmallVector<std::pair<Value, Value>> targets;
};

} // namespace

unsigned ElementwiseLoop::leafOf(Value tensor) {
  for (auto [index, leaf] : llvm::enumerate(leaves))
    if (leaf.tensor == tensor)
      return index;
  leaves.emplace_back();
  leaves.back().tensor = tensor;
  return leaves.size() - 1;
}

unsigned ElementwiseLoop::leafOf(DenseElementsAttr numbers) {
  leaves.emplace_back();
  leaves.back().numbers = numbers;
  return leaves.size() - 1;
}

void ElementwiseLoop::collectLeaves(ElementwiseOpInterface op) {
  unsigned count = op.getNumElementOperands();
  for (unsigned i = 0; i < count; ++i)
    if (Value operand = op->getOperand(i);
        !llvm::is_contained(ops, operand.getDefiningOp()))
      operandLeaves[{op, i}] = leafOf(operand);
  for (DenseElementsAttr numbers : op.getScalarConstants())
    operandLeaves[{op, count++}] = leafOf(numbers);
}

bool ElementwiseLoop::varies(const Leaf &leaf, unsigned dimension) const {
  ArrayRef<int64_t> shape = leaf.shape();
  unsigned rank = cast<RankedTensorType>(result.getType()).getRank();
  unsigned missing = rank - shape.size();
  return dimension >= missing && shape[dimension - missing] != 1;
}

/// Whether a gap lies between neighbours along `next` of the tensor, as a part
/// of the result's dimensions, and those along `dimension` before it.
bool ElementwiseLoop::hasGapBetween(Value tensor, unsigned dimension,
                                    unsigned next) const {
  std::optional<int64_t> run = emitter.runOf(tensor);
  if (!run)
    return false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  unsigned missing =
      cast<RankedTensorType>(result.getType()).getRank() - shape.size();
  unsigned begin = missing + *runDimension(shape, *run);
  return dimension < begin && begin <= next;
}

void ElementwiseLoop::joinDimensions() {
  auto shape = cast<RankedTensorType>(result.getType()).getShape();
  std::optional<unsigned> last;
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    Extent extent;
    if (ShapedType::isDynamic(shape[i]))
      extent = emitter.sizes.first(result);
    else
      extent.constant = shape[i];
    bool joins =
        last && llvm::none_of(targets, [&](const auto &target) {
          return hasGapBetween(target.first, *last, i);
        }) &&
        llvm::all_of(leaves, [&](const Leaf &leaf) {
          return varies(leaf, *last) == varies(leaf, i) &&
                 !(leaf.tensor && hasGapBetween(leaf.tensor, *last, i));
        });
    last = i;
    if (joins) {
      extents.back() = extents.back().scaled(shape[i]);
      continue;
    }
    for (Leaf &leaf : leaves)
      if (varies(leaf, i))
        leaf.dimensions.push_back(extents.size());
    extents.push_back(extent);
  }
}

Value ElementwiseLoop::viewOf(Leaf &leaf) {
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
                          first, shape, element);
  if (auto constant = leaf.tensor.getDefiningOp<nn::ConstantOp>())
    if (cast<DenseElementsAttr>(constant.getValue()).isSplat())
      return {};
  return emitter.view(leaf.tensor, first, shape);
}

/// Loads the leaves whose last dimension is that before `depth`.
void ElementwiseLoop::loadLeaves(unsigned depth, ValueRange position) {
  for (Leaf &leaf : leaves) {
    if (!leaf.memory) {
      if (depth == 0) {
        auto constant = leaf.tensor.getDefiningOp<nn::ConstantOp>();
        leaf.loaded = arith::ConstantOp::create(
            emitter.builder,
            cast<FloatAttr>(cast<DenseElementsAttr>(constant.getValue())
                                .getSplatValue<Attribute>()));
      }
      continue;
    }
    if (leaf.depth() != depth)
      continue;
    SmallVector<Value> indices;
    for (unsigned dimension : leaf.dimensions)
      indices.push_back(position[dimension]);
    if (indices.empty())
      indices.push_back(emitter.index(0));
    leaf.loaded = emitter.load(leaf.memory, indices);
  }
}

Value ElementwiseLoop::compute(ElementwiseOpInterface op,
                               const DenseMap<Value, Value> &computed) {
  SmallVector<Value> operands;
  unsigned count = op.getNumElementOperands() + op.getScalarConstants().size();
  for (unsigned i = 0; i < count; ++i) {
    auto found = operandLeaves.find({op, i});
    operands.push_back(found != operandLeaves.end()
                           ? leaves[found->second].loaded
                           : computed.at(op->getOperand(i)));
  }
  emitter.builder.setLoc(op->getLoc());
  return op.buildScalar(emitter.builder, operands);
}

void ElementwiseLoop::emitTurn(ValueRange position) {
  for (unsigned depth = 1; depth <= extents.size(); ++depth)
    loadLeaves(depth, position);
  DenseMap<Value, Value> computed;
  for (Operation *op : ops)
    computed[op->getResult(0)] =
        compute(cast<ElementwiseOpInterface>(op), computed);
  SmallVector<Value> indices(position);
  if (indices.empty())
    indices.push_back(emitter.index(0));
  for (auto [value, memory] : targets)
    emitter.store(computed.at(value), memory, indices);
}

void ElementwiseLoop::emit() {
  for (Operation *op : ops) {
    collectLeaves(cast<ElementwiseOpInterface>(op));
    if (Value value = op->getResult(0); !emitter.plan.isScalar(value))
      targets.push_back({value, Value()});
  }
  joinDimensions();
  // Everything that is not of one turn stands before the loop.
  for (Leaf &leaf : leaves)
    leaf.memory = viewOf(leaf);
  for (const Extent &extent : extents)
    bounds.push_back(emitter.evaluate(extent));
  for (auto &[value, memory] : targets) {
    Leaf all;
    all.tensor = value;
    for (unsigned i = 0; i < extents.size(); ++i)
      all.dimensions.push_back(i);
    memory = viewOf(all);
  }
  loadLeaves(0, {});
  emitter.parallel(bounds, [&](ValueRange position) { emitTurn(position); });
}

/// The lanes of the widest vectors: over fewer neighbours they are not filled,
/// which we expect, and have not measured, to cost more than a copy.
static constexpr int64_t kLeastRun = 16;

/// Whether a loop over the tensor may step over a gap behind each `run` of its
/// elements.
static bool canLeaveGaps(Value tensor, int64_t run) {
  return run >= kLeastRun &&
         runDimension(cast<RankedTensorType>(tensor.getType()).getShape(), run);
}

namespace {

struct ElementwiseStage
    : StageDefaults<ElementwiseStage,
                    StageOpInterface::FallbackModel<ElementwiseStage>> {
  LogicalResult emit(Operation *op, StageEmitter &emitter) const {
    ElementwiseLoop(emitter, emitter.plan.loopOf(op)).emit();
    return success();
  }
  bool readsElements(Operation *op, OpOperand &operand) const {
    return operand.getOperandNumber() <
           cast<ElementwiseOpInterface>(op).getNumElementOperands();
  }
  bool readsColumns(Operation *, OpOperand &operand, int64_t run) const {
    return canLeaveGaps(operand.get(), run);
  }
  bool writesColumns(Operation *, OpResult result, int64_t run) const {
    return canLeaveGaps(result, run);
  }
};

/// The elements themselves: gradients stop, memory does not.
struct StopGradientStage : WithoutCode<StopGradientStage, nn::StopGradientOp> {
  Value getViewSource(Operation *op) const { return op->getOperand(0); }
};

} // namespace

void pdlc::attachElementwiseStages(MLIRContext &context) {
  nn::StopGradientOp::attachInterface<StopGradientStage>(context);
  attachToOpsWith<ElementwiseOpInterface, ElementwiseStage>(
      context, nn::NNDialect::getDialectNamespace());
}
