//===- Canonicalization.cpp - Simplify moves of elements ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Patterns that simplify ops which only move elements. Elements stay
// bit-identical.
//
// If a chain of moves were simplified before differentiation, cotangents would
// be added in a different order, and gradients would not stay bit-identical.
// Therefore `nn-canonicalize` runs after `nn-autodiff`.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/PatternMatch.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

/// Returns the input of an op that does not change its type.
template <typename OpT> static OpFoldResult foldIdentity(OpT op) {
  return op.getInput().getType() == op.getType() ? op.getInput()
                                                 : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (OpFoldResult input = foldIdentity(*this))
    return input;
  auto earlier = getInput().getDefiningOp<ReshapeOp>();
  if (!earlier || !canTake(earlier.getInput()))
    return {};
  getInputMutable().assign(earlier.getInput());
  return getResult();
}

OpFoldResult FlattenOp::fold(FoldAdaptor) {
  if (OpFoldResult input = foldIdentity(*this))
    return input;
  // The result joins the dimensions of the earlier op and more.
  auto earlier = getInput().getDefiningOp<FlattenOp>();
  if (!earlier)
    return {};
  getInputMutable().assign(earlier.getInput());
  return getResult();
}

/// Combines two transpositions into one of the first one's input.
OpFoldResult TransposeOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())))
    return getInput();
  auto earlier = getInput().getDefiningOp<TransposeOp>();
  if (!earlier)
    return {};
  SmallVector<int64_t> joined;
  for (int64_t from : permutation)
    joined.push_back(earlier.getPermutation()[from]);
  getInputMutable().assign(earlier.getInput());
  setPermutation(joined);
  return getResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  if (OpFoldResult input = foldIdentity(*this))
    return input;
  auto earlier = getInput().getDefiningOp<PadOp>();
  if (!earlier || earlier.getAxis() != getAxis())
    return {};
  setLow(getLow() + earlier.getLow());
  setHigh(getHigh() + earlier.getHigh());
  getInputMutable().assign(earlier.getInput());
  return getResult();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Finds the tensor from which a slice could take the same elements more
/// directly, and sets `source` and `offset` to this tensor and the offset in
/// it. Fails if there is none.
static LogicalResult findSource(SliceOp slice, Value &source, int64_t &offset) {
  const int64_t axis = slice.getAxis(), size = slice.getSize();
  offset = slice.getOffset();
  if (auto earlier = slice.getInput().getDefiningOp<SliceOp>();
      earlier && earlier.getAxis() == uint64_t(axis)) {
    source = earlier.getInput();
    offset += earlier.getOffset();
    return success();
  }
  if (auto pad = slice.getInput().getDefiningOp<PadOp>();
      pad && pad.getAxis() == uint64_t(axis)) {
    source = pad.getInput();
    offset -= pad.getLow();
    return success(offset >= 0 &&
                   offset + size <= tensorOf(source).getDimSize(axis));
  }
  auto concat = slice.getInput().getDefiningOp<ConcatOp>();
  if (!concat || concat.getAxis() != uint64_t(axis))
    return failure();
  for (Value input : concat.getInputs()) {
    const int64_t width = tensorOf(input).getDimSize(axis);
    if (offset + size <= width) {
      source = input;
      return success();
    }
    offset -= width;
    // The slice starts in this input and ends after it.
    if (offset < 0)
      return failure();
  }
  return failure();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (OpFoldResult input = foldIdentity(*this))
    return input;
  Value source;
  int64_t offset = 0;
  if (failed(findSource(*this, source, offset)))
    return {};
  getInputMutable().assign(source);
  setOffset(offset);
  return getResult();
}

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? getInputs().front() : OpFoldResult();
}

namespace {

/// Joins a nested concatenation along the same axis, if it has no other users.
struct JoinNestedConcats : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      auto nested = input.getDefiningOp<ConcatOp>();
      if (nested && nested.getAxis() == op.getAxis() && input.hasOneUse())
        llvm::append_range(inputs, nested.getInputs());
      else
        inputs.push_back(input);
    }
    if (inputs.size() == op.getInputs().size())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(inputs); });
    return success();
  }
};

/// Joins adjacent slices of one tensor into a single slice.
struct JoinAdjacentSlices : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    auto sliceOf = [&](Value value) {
      auto slice = value.getDefiningOp<SliceOp>();
      return slice && slice.getAxis() == op.getAxis() ? slice : SliceOp();
    };
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      SliceOp next = sliceOf(input);
      SliceOp last = inputs.empty() ? SliceOp() : sliceOf(inputs.back());
      if (!next || !last || last.getInput() != next.getInput() ||
          last.getOffset() + last.getSize() != next.getOffset()) {
        inputs.push_back(input);
        continue;
      }
      inputs.back() = SliceOp::create(
          rewriter, rewriter.getFusedLoc({last.getLoc(), next.getLoc()}),
          last.getInput(), last.getAxis(), last.getOffset(),
          last.getSize() + next.getSize());
    }
    if (inputs.size() == op.getInputs().size())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(inputs); });
    return success();
  }
};

} // namespace

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<JoinNestedConcats, JoinAdjacentSlices>(context);
}
