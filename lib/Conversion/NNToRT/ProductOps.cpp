//===- ProductOps.cpp - Matrix products -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"

#include "pdlabi/abi.h"
#include "pdlabi/products.h"

using namespace mlir;
using namespace pdlc;

// The numbers of the ABI.
static_assert(int(rt::Product::bf16) == PDL_PRODUCT_BF16 &&
              int(rt::Product::bf16_fast) == PDL_PRODUCT_BF16_FAST &&
              int(rt::Product::bf16x3) == PDL_PRODUCT_BF16X3 &&
              int(rt::Product::bf16x3_fast) == PDL_PRODUCT_BF16X3_FAST &&
              int(rt::Product::bf16x6) == PDL_PRODUCT_BF16X6 &&
              int(rt::Product::bf16x6_fast) == PDL_PRODUCT_BF16X6_FAST);

static rt::Product productOf(std::optional<nn::Compute> compute,
                             rt::Numerics numerics) {
  const bool isFast = numerics == rt::Numerics::fast;
  if (!compute)
    return isFast ? rt::Product::fast : rt::Product::strict;
  switch (*compute) {
  case nn::Compute::bf16:
    return isFast ? rt::Product::bf16_fast : rt::Product::bf16;
  case nn::Compute::bf16x3:
    return isFast ? rt::Product::bf16x3_fast : rt::Product::bf16x3;
  case nn::Compute::bf16x6:
    return isFast ? rt::Product::bf16x6_fast : rt::Product::bf16x6;
  }
  llvm_unreachable("all types are covered");
}

/// Emits a product. `compute`: the use of bf16, if any.
static void emitProduct(StageEmitter &emitter, Value lhs, bool transposeLhs,
                        Value rhs, bool transposeRhs, Value bias, Value mask,
                        ArrayRef<Attribute> posts,
                        std::optional<nn::Compute> compute, Value result) {
  rt::GemmOp::create(
      emitter.builder, productOf(compute, emitter.module.numerics),
      emitter.pointer(rt::Place::worker), emitter.view(lhs), emitter.view(rhs),
      bias ? emitter.view(bias) : Value(), mask ? emitter.view(mask) : Value(),
      transposeLhs, transposeRhs, emitter.builder.getArrayAttr(posts),
      emitter.view(result));
}

static void emitMatmul(StageEmitter &emitter, nn::MatmulOp op) {
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), {}, {}, {}, /*compute=*/std::nullopt,
              op.getResult());
}

static void emitGemm(StageEmitter &emitter, nn::GemmOp op) {
  SmallVector<Attribute> posts;
  for (auto post : op.getPosts().getAsRange<nn::PostOpAttr>())
    posts.push_back(rt::PostOpAttr::get(
        op.getContext(), static_cast<rt::PostOp>(post.getValue())));
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), op.getBias(), op.getMask(), posts,
              op.getCompute(), op.getResult());
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
