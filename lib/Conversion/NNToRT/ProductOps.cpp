//===- ProductOps.cpp - Matrix products -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"

using namespace mlir;
using namespace pdlc;

/// Emits a product. If `isBF16`, the factors are rounded to bf16.
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

static void emitBatchMatmul(StageEmitter &emitter, nn::BatchMatmulOp op) {
  rt::BatchGemmOp::create(emitter.builder, emitter.pointer(rt::Place::worker),
                          emitter.view(op.getLhs()), emitter.view(op.getRhs()),
                          op.getTransposeLhs(), op.getTransposeRhs(),
                          emitter.view(op.getResult()));
}

namespace {

/// Stage of a matrix product. The runtime can write the rows of a product with
/// gaps between them. A result with a single column must be contiguous, because
/// the runtime computes it as a vector along the rows.
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
