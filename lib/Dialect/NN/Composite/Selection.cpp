//===- Selection.cpp - Entries by their places, and sums up to them -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Composer.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// The most entries of a list: a row of ones and zeros of that length is formed
/// for each that is taken.
static constexpr int64_t kMostEntries = 4096;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = tensorOf(adaptor.getInput()),
       index = tensorOf(adaptor.getIndex());
  const bool isList = (input.getRank() == 2 || input.getRank() == 3) &&
                      !input.isDynamicDim(1) &&
                      input.getDimSize(1) <= kMostEntries;
  if (!isList || index.getRank() != 2 || index.isDynamicDim(1) ||
      input.getDimSize(0) != index.getDimSize(0))
    return emitOptionalError(location, "'nn.gather' op takes entries of ",
                             input, " at ", index,
                             "; expected [b, n] or [b, n, d], n at most 4096, "
                             "and places [b, k] (C1)");
  SmallVector<int64_t> shape(input.getShape());
  shape[1] = index.getDimSize(1);
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

Value GatherOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto input = tensorOf(getInput()), index = tensorOf(getIndex());
  Type element = input.getElementType();
  const int64_t batch = input.getDimSize(0), entries = input.getDimSize(1),
                taken = index.getDimSize(1);
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < entries; ++i)
    numbers.push_back(builder.getFloatAttr(element, static_cast<double>(i)));
  Value places = ConstantOp::create(
      builder, DenseElementsAttr::get(RankedTensorType::get({entries}, element),
                                      numbers));
  Value wanted = CastOp::create(
      builder, RankedTensorType::get({batch, taken}, element), getIndex());
  // 1 where an entry is the one that is wanted: [b, k, n].
  Value isWanted = EqualOp::create(
      builder, compose.reshape(wanted, {batch, taken, 1}), places);
  const int64_t width = input.getRank() == 3 ? input.getDimSize(2) : 1;
  Value rows = MatmulOp::create(
      builder, isWanted, compose.reshape(getInput(), {batch, entries, width}));
  return compose.reshape(rows, tensorOf(getResult()).getShape());
}

/// The most entries of a sum: their square is how many numbers its matrix has.
static constexpr int64_t kMostSummands = 1024;

LogicalResult CumulativeSumOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() >= 2 && !type.isDynamicDim(type.getRank() - 1) &&
      type.getShape().back() <= kMostSummands)
    return success();
  return emitOpError() << "sums along the last dimension of " << type
                       << "; expected rank 2 or more, and a last dimension of "
                          "at most "
                       << kMostSummands
                       << "; nn.scan goes through longer lists, as bags (C1)";
}

Value CumulativeSumOp::spellOut(ImplicitLocOpBuilder &builder) {
  auto type = tensorOf(getInput());
  Type element = type.getElementType();
  const int64_t count = type.getShape().back();
  SmallVector<Attribute> numbers;
  for (int64_t from = 0; from < count; ++from)
    for (int64_t to = 0; to < count; ++to) {
      const bool isSummed = getReversed() ? from >= to : from <= to;
      const bool isLeftOut = getExclusive() && from == to;
      numbers.push_back(
          builder.getFloatAttr(element, isSummed && !isLeftOut ? 1.0 : 0.0));
    }
  Value matrix = ConstantOp::create(
      builder, DenseElementsAttr::get(
                   RankedTensorType::get({count, count}, element), numbers));
  return MatmulOp::create(builder, getInput(), matrix);
}
