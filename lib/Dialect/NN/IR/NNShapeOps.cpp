//===- NNShapeOps.cpp - Ops that change shapes ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  if (adaptor.getInputs().empty())
    return emitAt(location, context, name) << "needs an operand (C1)";
  auto first = tensorOf(adaptor.getInputs().front());
  int64_t axis = adaptor.getAxis();
  if (axis <= 0 || axis >= first.getRank())
    return emitAt(location, context, name)
           << "joins along axis " << axis << " of " << first
           << "; expected 0 < axis < rank (C1)";
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = tensorOf(input);
    bool fits = type.getRank() == first.getRank() &&
                type.getElementType() == first.getElementType();
    for (int64_t i = 0; fits && i < first.getRank(); ++i)
      fits = i == axis || type.getDimSize(i) == first.getDimSize(i);
    if (!fits)
      return emitAt(location, context, name)
             << "cannot join " << type << " to " << first << " along axis "
             << axis << " (C2)";
    shape[axis] += type.getDimSize(axis);
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  auto type = tensorOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis(), offset = adaptor.getOffset(),
          size = adaptor.getSize();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return emitAt(location, context, name)
           << "cuts axis " << axis << " of " << type
           << "; expected a static dimension (C1)";
  if (offset < 0 || size < 1 || offset > type.getDimSize(axis) - size)
    return emitAt(location, context, name)
           << "cuts [" << offset << ", " << offset << " + " << size
           << ") out of " << type.getDimSize(axis) << " (C2)";
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

/// Returns true if the elements of a tensor of type `from` can be reshaped to
/// type `to`. Dynamic first dimensions are assumed to fit.
static bool canReshape(RankedTensorType from, RankedTensorType to) {
  auto staticProduct = [](RankedTensorType type) {
    int64_t product = 1;
    for (int64_t size : type.getShape())
      product *= ShapedType::isDynamic(size) ? 1 : size;
    return product;
  };
  bool dynamicFrom = from.getRank() && from.isDynamicDim(0),
       dynamicTo = to.getRank() && to.isDynamicDim(0);
  // Tensors of bags may be flattened with the dynamic first dimension, or split
  // off again: [b, s, w] <-> [b * s, w]. The trait BatchFirst has verified that
  // no product is 0 or too large.
  int64_t fromProduct = staticProduct(from), toProduct = staticProduct(to);
  return dynamicFrom == dynamicTo &&
         (dynamicFrom
              ? fromProduct % toProduct == 0 || toProduct % fromProduct == 0
              : fromProduct == toProduct);
}

LogicalResult ReshapeOp::verify() {
  auto from = tensorOf(getInput()), to = tensorOf(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type (C1)");
  if (!canReshape(from, to))
    return emitOpError() << "cannot reshape " << from << " to " << to
                         << " (C2)";
  return success();
}

bool ReshapeOp::canTake(Value input) {
  return canReshape(tensorOf(input), tensorOf(getResult()));
}

LogicalResult FlattenOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  int64_t from = adaptor.getFrom();
  if (from <= 0 || from >= type.getRank())
    return emitAt(location, context, getOperationName())
           << "joins the dimensions of " << type << " from " << from
           << " on; expected 0 < from < rank (C1)";
  SmallVector<int64_t> shape(type.getShape().take_front(from));
  int64_t product = 1;
  for (int64_t size : type.getShape().drop_front(from))
    product *= size;
  shape.push_back(product);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

Value FlattenOp::spellOut(ImplicitLocOpBuilder &builder) {
  return ReshapeOp::create(builder, getType(), getInput());
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (sorted.empty() ||
      !llvm::equal(sorted, llvm::seq<int64_t>(type.getRank())))
    return emitAt(location, context, getOperationName())
           << "permutes " << type << " by [" << permutation
           << "]; name each of its dimensions once (C1)";
  if (type.isDynamicDim(0) && permutation.front() != 0)
    return emitAt(location, context, getOperationName())
           << "moves the batch of " << type
           << "; the first dimension stays where it is (C2)";
  SmallVector<int64_t> shape;
  for (int64_t from : permutation)
    shape.push_back(type.getDimSize(from));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult TakeOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  auto type = tensorOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return emitAt(location, context, name)
           << "takes from axis " << axis << " of " << type
           << "; expected a static dimension (C1)";
  if (adaptor.getPositions().empty())
    return emitAt(location, context, name) << "takes nothing (C2)";
  for (int64_t position : adaptor.getPositions())
    if (position < -1 || position >= type.getDimSize(axis))
      return emitAt(location, context, name)
             << "takes index " << position << " of " << type.getDimSize(axis)
             << "; -1 gives zero (C2)";
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = static_cast<int64_t>(adaptor.getPositions().size());
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = tensorOf(getInput()), to = tensorOf(getResult());
  auto shape = broadcastShapes(from.getShape(), to.getShape());
  if (from.getElementType() != to.getElementType() || failed(shape) ||
      ArrayRef<int64_t>(*shape) != to.getShape())
    return emitOpError() << "cannot broadcast " << from << " to " << to
                         << " (C1)";
  if (to.getRank() && to.isDynamicDim(0)) {
    bool known = from.getRank() == to.getRank() && from.isDynamicDim(0);
    if (Value like = getLike())
      known |= tensorOf(like).getRank() && tensorOf(like).isDynamicDim(0);
    if (!known)
      return emitOpError("needs `like` to know its first dimension (C2)");
  }
  return success();
}

bool ReduceOp::reducesRows() {
  int64_t rank = tensorOf(getInput()).getRank();
  ArrayRef<int64_t> axes = getAxes();
  return !axes.empty() && axes.back() == rank - 1 &&
         axes.front() == rank - static_cast<int64_t>(axes.size());
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || axes[i] >= type.getRank() ||
        (i && axes[i] <= axes[i - 1]))
      return emitAt(location, context, getOperationName())
             << "reduces axes [" << axes << "] of " << type
             << "; expected distinct, ascending axes within the rank (C1)";
  if (axes.empty())
    return emitAt(location, context, getOperationName())
           << "needs at least one axis (C1)";
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!llvm::is_contained(axes, i))
      shape.push_back(type.getDimSize(i));
    else if (adaptor.getKeep())
      shape.push_back(1);
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

std::optional<std::string> ReduceOp::mixesSamples() {
  if (getMixing())
    return "mixes samples; say nn.batch_sum (C3)";
  for (int64_t axis : getAxes())
    if (tensorOf(getInput()).isDynamicDim(axis))
      return "reduces over the samples of a batch, which replicas could not do "
             "alike (C3); nn.batch_sum sums over the batch of one replica, if "
             "that is meant";
  return std::nullopt;
}

/// Flattening a bag dimension with the batch is only for the ops that replace
/// lookups, from phase `merged` on. In a model, it would mix samples.
std::optional<std::string> ReshapeOp::mixesSamples() {
  auto from = tensorOf(getInput()), to = tensorOf(getResult());
  if (from.hasStaticShape() ||
      ShapedType::getNumElements(from.getShape().drop_front()) ==
          ShapedType::getNumElements(to.getShape().drop_front()))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text)
      << "moves elements between samples: '" << from
      << "' has not as many in one as '" << to << "' (C2)";
  return text;
}
