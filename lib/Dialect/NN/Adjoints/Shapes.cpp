//===- Shapes.cpp - Adjoints of ops that move elements --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointUtils.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

SmallVector<Value> ConcatOp::getResiduals() { return {}; }

LogicalResult ConcatOp::buildAdjoint(AdjointBuilder &adjoints) {
  Value cotangent = adjoints.cotangent(getResult());
  int64_t offset = tensorOf(getResult()).getDimSize(getAxis());
  for (Value input : llvm::reverse(getInputs())) {
    int64_t size = tensorOf(input).getDimSize(getAxis());
    offset -= size;
    if (adjoints.isNeeded(input))
      adjoints.accumulate(input,
                          SliceOp::create(adjoints.builder(), getLoc(),
                                          cotangent, getAxis(), offset, size));
  }
  return success();
}

SmallVector<Value> SliceOp::getResiduals() { return {}; }

LogicalResult SliceOp::buildAdjoint(AdjointBuilder &adjoints) {
  int64_t whole = tensorOf(getInput()).getDimSize(getAxis());
  int64_t after = whole - getOffset() - getSize();
  adjoints.accumulate(getInput(), PadOp::create(adjoints.builder(), getLoc(),
                                                adjoints.cotangent(getResult()),
                                                getAxis(), getOffset(), after));
  return success();
}

SmallVector<Value> PadOp::getResiduals() { return {}; }

LogicalResult PadOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(
      getInput(),
      SliceOp::create(adjoints.builder(), getLoc(),
                      adjoints.cotangent(getResult()), getAxis(), getLow(),
                      tensorOf(getInput()).getDimSize(getAxis())));
  return success();
}

SmallVector<Value> ReshapeOp::getResiduals() { return {}; }

LogicalResult ReshapeOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      ReshapeOp::create(adjoints.builder(), getLoc(),
                                        getInput().getType(),
                                        adjoints.cotangent(getResult())));
  return success();
}

SmallVector<Value> TransposeOp::getResiduals() { return {}; }

LogicalResult TransposeOp::buildAdjoint(AdjointBuilder &adjoints) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = static_cast<int64_t>(to);
  adjoints.accumulate(getInput(),
                      TransposeOp::create(adjoints.builder(), getLoc(),
                                          adjoints.cotangent(getResult()),
                                          inverse));
  return success();
}

SmallVector<Value> TakeOp::getResiduals() { return {}; }

/// If the op takes an index several times, the cotangents of these copies are
/// added in the order of the result. This happens for all indices at once: the
/// first copies of all indices form one tensor, the second copies another one,
/// and so on.
LogicalResult TakeOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  const int64_t size = tensorOf(getInput()).getDimSize(getAxis());
  SmallVector<SmallVector<int64_t>> rounds;
  SmallVector<size_t> seen(size, 0);
  for (auto [to, from] : llvm::enumerate(getPositions())) {
    if (from < 0)
      continue;
    size_t round = seen[from]++;
    if (round == rounds.size())
      rounds.emplace_back(size, -1);
    rounds[round][from] = static_cast<int64_t>(to);
  }
  Value sum;
  for (ArrayRef<int64_t> positions : rounds) {
    Value taken = TakeOp::create(builder, adjoints.cotangent(getResult()),
                                 getAxis(), positions);
    sum = sum ? AddOp::create(builder, sum, taken).getResult() : taken;
  }
  if (sum)
    adjoints.accumulate(getInput(), sum);
  return success();
}

bool GatherOp::isDifferentiable(unsigned operandNumber) {
  return operandNumber == 0;
}

SmallVector<Value> GatherOp::getResiduals() { return {getIndex()}; }

/// Multiplies the cotangent by a matrix of zeros and ones, [n, k] for each
/// sample, which has a one for each taken entry. If an entry was taken several
/// times, its cotangents are added in the order of the result.
LogicalResult GatherOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  auto input = tensorOf(getInput()), index = tensorOf(getIndex());
  Type element = input.getElementType();
  const int64_t batch = input.getDimSize(0), entries = input.getDimSize(1),
                taken = index.getDimSize(1);
  const int64_t width = input.getRank() == 3 ? input.getDimSize(2) : 1;
  auto reshape = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value));
    return value.getType() == type
               ? value
               : ReshapeOp::create(builder, type, value).getResult();
  };
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < entries; ++i)
    numbers.push_back(builder.getFloatAttr(element, static_cast<double>(i)));
  Value places = ConstantOp::create(
      builder, DenseElementsAttr::get(RankedTensorType::get({entries}, element),
                                      numbers));
  Value wanted = CastOp::create(
      builder, RankedTensorType::get({batch, taken}, element), getIndex());
  // 1 at the taken entries, else 0: [b, k, n].
  Value isWanted =
      EqualOp::create(builder, reshape(wanted, {batch, taken, 1}), places);
  Value sum = BatchMatmulOp::create(
      builder, isWanted,
      reshape(adjoints.cotangent(getResult()), {batch, taken, width}),
      /*transpose_lhs=*/true, /*transpose_rhs=*/false);
  adjoints.accumulate(getInput(), reshape(sum, input.getShape()));
  return success();
}

bool BroadcastOp::isDifferentiable(unsigned operandNumber) {
  // Only the size of `like` is used.
  return operandNumber == 0;
}

SmallVector<Value> BroadcastOp::getResiduals() { return {}; }

LogicalResult BroadcastOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(), sumTo(adjoints.builder(), getLoc(),
                                        adjoints.cotangent(getResult()),
                                        tensorOf(getInput())));
  return success();
}
