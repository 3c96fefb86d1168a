//===- NNSelectionOps.cpp - Ops that select entries by position -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Maximum number of entries of a list from which `nn.gather` selects. Its
/// adjoint builds a row of so many zeros and ones for each selected entry.
static constexpr int64_t kMaxEntries = 4096;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = tensorOf(adaptor.getInput()),
       index = tensorOf(adaptor.getIndex());
  const bool isList = (input.getRank() == 2 || input.getRank() == 3) &&
                      !input.isDynamicDim(1) &&
                      input.getDimSize(1) <= kMaxEntries;
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

/// Maximum number of elements of a row of `nn.cumulative_sum`. Each element of
/// the result is a sum of its own, so the number of additions is quadratic in
/// it.
static constexpr int64_t kMaxSummands = 1024;

LogicalResult CumulativeSumOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() >= 2 && !type.isDynamicDim(type.getRank() - 1) &&
      type.getShape().back() <= kMaxSummands)
    return success();
  return emitOpError() << "sums along the last dimension of " << type
                       << "; expected rank 2 or more, and a last dimension of "
                          "at most "
                       << kMaxSummands
                       << "; nn.scan goes through longer lists, as bags (C1)";
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  if (type.getRank() < 2)
    return emitOptionalError(location, "'nn.top_k' op takes ", type,
                             "; expected rank 2 or more (C1)");
  const auto count = static_cast<int64_t>(adaptor.getCount());
  if (type.isDynamicDim(type.getRank() - 1) || count < 1 ||
      count > type.getShape().back())
    return emitOptionalError(location, "'nn.top_k' op finds the ", count,
                             " largest of ", type,
                             "; expected 1 to the last dimension (C2)");
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = count;
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}
