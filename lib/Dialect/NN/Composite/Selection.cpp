//===- Selection.cpp - Sums up to an entry ------------------------------===//
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
