//===- ElementwiseOps.cpp - Elementwise ops -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An elementwise op defines the formula of one element as scalar ops. The
// interpreter compiles these once and runs them on many elements at a time. It
// gathers the elements from the operands, which may broadcast.
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "ScalarProgram.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// Number of elements that run at once.
static constexpr size_t kLanes = 64;

namespace {

/// Input of a formula: a tensor that is repeated to the shape of the result.
class Leaf {
public:
  Leaf(Tensor tensor, ArrayRef<int64_t> shape)
      : owned(std::make_unique<Tensor>(std::move(tensor))), tensor(*owned) {
    findStrides(shape);
  }
  Leaf(const Tensor *tensor, ArrayRef<int64_t> shape) : tensor(*tensor) {
    findStrides(shape);
  }

  bool isRepeated() const { return repeated; }
  template <typename T> const T *elements() const {
    return tensor.get<T>().data();
  }
  int64_t offset(const Odometer &position) const {
    int64_t offset = 0;
    for (size_t axis = 0; axis < strides.size(); ++axis)
      offset += position[axis] * strides[axis];
    return offset;
  }

private:
  /// Computes the stride in the tensor for each axis of `shape`.
  void findStrides(ArrayRef<int64_t> shape) {
    strides.assign(shape.size(), 0);
    size_t shift = shape.size() - tensor.rank();
    int64_t stride = 1;
    for (int64_t axis = tensor.rank(); axis-- > 0; stride *= tensor.dim(axis))
      if (tensor.dim(axis) != 1)
        strides[shift + axis] = stride;
    repeated = tensor.shape() != shape;
  }

  std::unique_ptr<Tensor> owned;
  const Tensor &tensor;
  Tensor::Shape strides;
  bool repeated = false;
};

} // namespace

static float &in(Scalar &scalar, float) { return scalar.f32; }
static double &in(Scalar &scalar, double) { return scalar.f64; }

template <typename T>
static void runFormula(ScalarProgram &program, ArrayRef<Leaf> leaves,
                       Tensor &out) {
  bool anyRepeated = llvm::any_of(leaves, std::mem_fn(&Leaf::isRepeated));
  Odometer position(out.shape());
  std::vector<T> &elements = out.get<T>();
  for (size_t first = 0; first < elements.size(); first += kLanes) {
    size_t count = std::min(kLanes, elements.size() - first);
    for (auto [index, leaf] : llvm::enumerate(leaves)) {
      if (leaf.isRepeated())
        continue;
      const T *from = leaf.elements<T>() + first;
      Scalar *to = program.argument(index);
      for (size_t i = 0; i < count; ++i)
        in(to[i], T()) = from[i];
    }
    for (size_t i = 0; anyRepeated && i < count; ++i, position.advance())
      for (auto [index, leaf] : llvm::enumerate(leaves))
        if (leaf.isRepeated())
          in(program.argument(index)[i], T()) =
              leaf.elements<T>()[leaf.offset(position)];
    program.run(count);
    const Scalar *from = program.result(0);
    for (size_t i = 0; i < count; ++i) {
      Scalar result = from[i];
      elements[first + i] = in(result, T());
    }
  }
}

/// Returns the shape of the result in this batch. Reports an error if dynamic
/// dimensions differ that must be equal.
static FailureOr<Tensor::Shape> resultShape(ElementwiseOpInterface op,
                                            ArrayRef<const Tensor *> operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Tensor::Shape shape(type.getShape());
  if (shape.empty() || !type.isDynamicDim(0))
    return shape;
  shape[0] = 1;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    // An operand whose elements are not used only provides its number of rows.
    bool givesRows =
        number < op.getNumElementOperands()
            ? operand->rank() == type.getRank()
            : operand->rank() > 0 &&
                  cast<RankedTensorType>(op->getOperand(number).getType())
                      .isDynamicDim(0);
    if (!givesRows || operand->dim(0) == 1)
      continue;
    if (shape[0] != 1 && shape[0] != operand->dim(0)) {
      op->emitOpError() << "meets dimensions of " << shape[0] << " and "
                        << operand->dim(0) << " elements in this batch";
      return failure();
    }
    shape[0] = operand->dim(0);
  }
  return shape;
}

Tensor interpreter::tensorFrom(DenseElementsAttr elements) {
  Tensor tensor(elements.getType().getShape(), elements.getElementType());
  tensor.visit([&](auto &all) {
    using T = typename std::remove_reference_t<decltype(all)>::value_type;
    llvm::copy(elements.getValues<T>(), all.begin());
  });
  return tensor;
}

/// Repeats ids for nn.broadcast; formulas do not support ids.
static Tensor repeatIds(const Leaf &ids, ArrayRef<int64_t> shape,
                        Type element) {
  Tensor out(shape, element);
  Odometer position(out.shape());
  for (int64_t &id : out.get<int64_t>()) {
    id = ids.elements<int64_t>()[ids.offset(position)];
    position.advance();
  }
  return out;
}

FailureOr<Tensor>
interpreter::evaluateElements(ElementwiseOpInterface op,
                              ArrayRef<const Tensor *> operands) {
  FailureOr<Tensor::Shape> shape = resultShape(op, operands);
  if (failed(shape))
    return failure();
  SmallVector<Leaf> leaves;
  for (const Tensor *operand : operands.take_front(op.getNumElementOperands()))
    leaves.emplace_back(operand, *shape);
  for (DenseElementsAttr numbers : op.getScalarConstants())
    leaves.emplace_back(tensorFrom(numbers), *shape);

  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (element.isInteger())
    return repeatIds(leaves.front(), *shape, element);
  Block formula;
  for (size_t i = 0; i < leaves.size(); ++i)
    formula.addArgument(element, op.getLoc());
  ImplicitLocOpBuilder builder(op.getLoc(), op.getContext());
  builder.setInsertionPointToEnd(&formula);
  Value result = op.buildScalar(builder, formula.getArguments());
  FailureOr<ScalarProgram> program =
      ScalarProgram::compile(formula, result, kLanes);
  if (failed(program))
    return failure();

  Tensor out(*shape, element);
  dispatchFloat(element, [&](auto zero) {
    runFormula<decltype(zero)>(*program, leaves, out);
  });
  return out;
}

namespace {

struct ElementwiseEvaluator
    : InterpretableOpInterface::FallbackModel<ElementwiseEvaluator> {
  LogicalResult interpret(Operation *op, Frame &frame) const {
    SmallVector<const Tensor *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(&frame.tensor(operand));
    FailureOr<Tensor> result =
        evaluateElements(cast<ElementwiseOpInterface>(op), operands);
    if (failed(result))
      return failure();
    frame.set(op->getResult(0), std::move(*result));
    return success();
  }
};

} // namespace

void interpreter::attachElementwiseOps(MLIRContext &context) {
  attachToOpsWith<ElementwiseOpInterface, ElementwiseEvaluator>(
      context, NNDialect::getDialectNamespace());
}
