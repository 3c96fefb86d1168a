//===- Sampling.cpp - Losses with negative samples ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Composer.h"
#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Computes a sample's own score by the same kind of product as the scores of
/// the batch. It is then bit-identical to the score that is part of the sum.
Value InBatchSoftmaxOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  const int64_t width = tensorOf(getUsers()).getDimSize(1);
  const int64_t batch = ShapedType::kDynamic;
  Value sums = InBatchLogSumExpOp::create(
      builder, getType(), getUsers(), getItems(), getCorrection(), getIds());
  Value user = compose.reshape(getUsers(), {batch, 1, width});
  Value item = compose.reshape(getItems(), {batch, width, 1});
  Value own = MatmulOp::create(builder, user, item);
  own = compose.reshape(own, {batch, 1});
  if (getCorrection())
    own = compose.sub(own, compose.apply<StopGradientOp>(getCorrection()));
  return compose.sub(sums, own);
}

/// Replaces the scores of accidental hits. It is so low that its exponential is
/// 0 next to any other score, but far from the limits of the element type.
static constexpr double impossibleScore = -1e30;

Value SampledSoftmaxOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value own = compose.sub(getOwn(), getOwnCorrection());
  Value drawn = compose.sub(getDrawn(), getDrawnCorrection());
  if (getHits())
    drawn = SelectOp::create(builder, getHits(),
                             compose.number(drawn, impossibleScore), drawn);
  Value all = ConcatOp::create(builder, ValueRange{own, drawn}, /*axis=*/1);
  Value logarithms = LogSoftmaxOp::create(builder, all.getType(), all, 1);
  Value first = SliceOp::create(builder, logarithms, /*axis=*/1, /*begin=*/0,
                                /*size=*/1);
  return compose.apply<NegOp>(first);
}

/// Computes softplus(-own) plus the sum of softplus(drawn). Drawn ids that are
/// accidental hits are not part of the sum.
static Value separate(Composer &compose, Value own, Value drawn, Value hits) {
  Value ofOwn = compose.apply<SoftplusOp>(compose.apply<NegOp>(own));
  Value ofDrawn = compose.apply<SoftplusOp>(drawn);
  if (hits)
    ofDrawn = SelectOp::create(compose.builder, hits, compose.number(drawn, 0),
                               ofDrawn);
  return compose.add(ofOwn, compose.sum(ofDrawn, 1));
}

Value NCELossOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  const double count = std::log(tensorOf(getDrawn()).getDimSize(1));
  auto less = [&](Value logits, Value correction) {
    return compose.sub(logits, compose.add(correction, count));
  };
  return separate(compose, less(getOwn(), getOwnCorrection()),
                  less(getDrawn(), getDrawnCorrection()), getHits());
}

Value NegativeSamplingOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return separate(compose, getOwn(), getDrawn(), getHits());
}
