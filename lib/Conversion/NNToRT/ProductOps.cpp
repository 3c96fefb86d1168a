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

static void emitProduct(StageEmitter &emitter, Value lhs, bool transposeLhs,
                        Value rhs, bool transposeRhs, Value bias, Value mask,
                        ArrayRef<Attribute> posts, Value result) {
  rt::GemmOp::create(emitter.builder, emitter.module.numerics,
                     emitter.pointer(rt::Place::worker), emitter.view(lhs),
                     emitter.view(rhs), bias ? emitter.view(bias) : Value(),
                     mask ? emitter.view(mask) : Value(), transposeLhs,
                     transposeRhs, emitter.builder.getArrayAttr(posts),
                     emitter.view(result));
}

static void emitMatmul(StageEmitter &emitter, nn::MatmulOp op) {
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), {}, {}, {}, op.getResult());
}

static void emitGemm(StageEmitter &emitter, nn::GemmOp op) {
  SmallVector<Attribute> posts;
  for (auto post : op.getPosts().getAsRange<nn::PostOpAttr>())
    posts.push_back(rt::PostOpAttr::get(
        op.getContext(), static_cast<rt::PostOp>(post.getValue())));
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), op.getBias(), op.getMask(), posts,
              op.getResult());
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
}
