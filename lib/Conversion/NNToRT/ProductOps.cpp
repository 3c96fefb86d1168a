//===- ProductOps.cpp - Matrix products -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace pdlc;

/// `isBF16`: factors are rounded to bf16.
static void emitProduct(StageEmitter &emitter, Value lhs, bool transposeLhs,
                        Value rhs, bool transposeRhs, Value bias, Value mask,
                        ArrayRef<Attribute> posts, bool isBF16, Value result) {
  const rt::Product product =
      isBF16 ? rt::Product::bf16
             : static_cast<rt::Product>(emitter.module.numerics);
  rt::GemmOp::create(
      emitter.builder, product, emitter.pointer(rt::Place::worker),
      emitter.view(lhs), emitter.view(rhs), bias ? emitter.view(bias) : Value(),
      mask ? emitter.view(mask) : Value(), transposeLhs, transposeRhs,
      emitter.builder.getArrayAttr(posts), emitter.view(result));
}

static void emitMatmul(StageEmitter &emitter, nn::MatmulOp op) {
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), {}, {}, {}, /*isBF16=*/false,
              op.getResult());
}

static void emitGemm(StageEmitter &emitter, nn::GemmOp op) {
  SmallVector<Attribute> posts;
  for (auto post : op.getPosts().getAsRange<nn::PostOpAttr>())
    posts.push_back(rt::PostOpAttr::get(
        op.getContext(), static_cast<rt::PostOp>(post.getValue())));
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), op.getBias(), op.getMask(), posts,
              op.getCompute().has_value(), op.getResult());
}

/// Small products, one for each sample: loops, in which the columns of a row
/// are independent of each other.
static void emitBatchMatmul(StageEmitter &emitter, nn::BatchMatmulOp op) {
  Type element = op.getType().getElementType();
  const bool transposed = op.getTransposeLhs();
  ArrayRef<int64_t> shape = op.getType().getShape();
  const int64_t depth = nn::tensorOf(op.getRhs()).getDimSize(1);
  Value lhs = emitter.view(op.getLhs()), rhs = emitter.view(op.getRhs());
  Value out = emitter.view(op.getResult());
  emitter.fill(op.getResult(), emitter.scalar(element, 0));
  SmallVector<Value> bounds{
      emitter.evaluate(emitter.sizes.first(op.getResult())),
      emitter.index(shape[1]), emitter.index(shape[2])};
  Value count = emitter.index(depth);
  emitter.parallel(bounds, [&](ValueRange at) {
    Value start = emitter.load(out, at);
    Value sum = emitter.ordered(count, start, [&](Value k, Value sum) -> Value {
      SmallVector<Value> left{at[0], at[1], k};
      if (transposed)
        std::swap(left[1], left[2]);
      return math::FmaOp::create(emitter.builder, emitter.load(lhs, left),
                                 emitter.load(rhs, {at[0], k, at[2]}), sum);
    });
    emitter.store(sum, out, at);
  });
}

namespace {

/// The runtime writes rows of a product that are apart; one column it computes
/// along the rows, which then must be neighbours.
template <typename OpType, void (*function)(StageEmitter &, OpType)>
struct ProductStage
    : EmittedModel<ProductStage<OpType, function>, OpType, function> {
  bool writesColumns(Operation *, OpResult result, int64_t run) const {
    return run > 1 && run == innerElements(result);
  }
};

} // namespace

void pdlc::attachProductStages(MLIRContext &context) {
  nn::MatmulOp::attachInterface<ProductStage<nn::MatmulOp, emitMatmul>>(
      context);
  nn::GemmOp::attachInterface<ProductStage<nn::GemmOp, emitGemm>>(context);
  attachEmitter<nn::BatchMatmulOp, emitBatchMatmul>(context);
}
