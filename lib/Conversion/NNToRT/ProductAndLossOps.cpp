//===- ProductAndLossOps.cpp - Matrix products, losses, metrics -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"
#include "llvm/ADT/TypeSwitch.h"

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

void pdlc::emitMatmul(StageEmitter &emitter, nn::MatmulOp op) {
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), {}, {}, {}, op.getResult());
}

void pdlc::emitGemm(StageEmitter &emitter, nn::GemmOp op) {
  SmallVector<Attribute> posts;
  for (auto post : op.getPosts().getAsRange<nn::PostOpAttr>())
    posts.push_back(rt::PostOpAttr::get(
        op.getContext(), static_cast<rt::PostOp>(post.getValue())));
  emitProduct(emitter, op.getLhs(), op.getTransposeLhs(), op.getRhs(),
              op.getTransposeRhs(), op.getBias(), op.getMask(), posts,
              op.getResult());
}

void pdlc::emitLossSum(StageEmitter &emitter, nn::LossSumOp op) {
  rt::LossSumOp::create(emitter.builder, emitter.flat(op.getLosses()),
                        op.getWeights() ? emitter.flat(op.getWeights())
                                        : Value(),
                        emitter.pointer(rt::Place::loss_sum),
                        emitter.pointer(rt::Place::weight_sum));
}

void pdlc::emitObserve(StageEmitter &emitter, nn::ObserveOp op) {
  int64_t index = emitter.module.order.metric(op.getMetric());
  Attribute kind = emitter.module.order.metrics[index].getKind();
  int64_t buckets = 0;
  auto metric =
      llvm::TypeSwitch<Attribute, rt::MetricKind>(kind)
          .Case([&](nn::AucAttr auc) {
            buckets = auc.getBuckets();
            return rt::MetricKind::auc;
          })
          .Case([](nn::LogLossAttr) { return rt::MetricKind::log_loss; })
          .Default([](Attribute) { return rt::MetricKind::copc; });
  rt::ObserveOp::create(
      emitter.builder, metric, buckets, emitter.flat(op.getPredictions()),
      emitter.flat(op.getLabels()), emitter.pointer(rt::Place::metric, index));
}
