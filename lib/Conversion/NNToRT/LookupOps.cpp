//===- LookupOps.cpp - Id features and lookups ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Id features
//===----------------------------------------------------------------------===//

void pdlc::emitBucketize(StageEmitter &emitter, nn::BucketizeOp op) {
  ArrayRef<double> boundaries = op.getBoundaries();
  auto type = RankedTensorType::get({static_cast<int64_t>(boundaries.size())},
                                    emitter.builder.getF64Type());
  Extent count;
  count.constant = boundaries.size();
  Value numbers =
      emitter.viewAt(emitter.constant(DenseElementsAttr::get(type, boundaries)),
                     emitter.index(0), count, {}, type.getElementType());
  rt::BucketizeOp::create(emitter.builder, emitter.flat(op.getInput()), numbers,
                          emitter.flat(op.getResult()));
}

void pdlc::emitCross(StageEmitter &emitter, nn::CrossOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(emitter.flat(input));
  rt::CrossOp::create(emitter.builder, inputs, op.getSalt(),
                      emitter.flat(op.getResult()));
}

void pdlc::emitCrossBags(StageEmitter &emitter, nn::CrossBagsOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  SmallVector<Value> ids, splits;
  for (Value input : op.getIds())
    ids.push_back(emitter.flat(input));
  for (Value input : op.getSplits())
    splits.push_back(emitter.flat(input));
  Value count =
      rt::CrossRaggedCountOp::create(builder, builder.getIndexType(), splits);
  emitter.allocate(op.getResult(), count);
  rt::CrossRaggedOp::create(builder, ids, splits, op.getSalt(),
                            emitter.flat(op.getResult()),
                            emitter.flat(op.getResultSplits()));
}

void pdlc::emitSingleBags(StageEmitter &emitter, nn::SingleBagsOp op) {
  Value splits = emitter.flat(op.getSplits());
  Value count = emitter.evaluate(emitter.sizes.elements(op.getSplits()));
  emitter.loop(count, [&](Value bag) {
    Value number = arith::IndexCastOp::create(
        emitter.builder, emitter.builder.getI32Type(), bag);
    emitter.store(number, splits, bag);
  });
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

void pdlc::emitPull(StageEmitter &emitter, nn::PullOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  SmallVector<nn::PullOp> pulls = emitter.sizes.lookups();
  int64_t lookup = llvm::find(pulls, op) - pulls.begin();
  SmallVector<Value> ids;
  for (Value input : op.getKeys().getDefiningOp<nn::UniqueOp>().getIds())
    ids.push_back(emitter.flat(input));
  Value worker = emitter.pointer(rt::Place::worker);
  Value into = emitter.pointer(rt::Place::lookup, lookup);
  emitter.returnUnlessZero(
      rt::UniqueOp::create(builder, builder.getI32Type(), worker, ids, into));
  int64_t table = emitter.module.order.symbol(op.getTable());
  emitter.returnUnlessZero(
      rt::PullOp::create(builder, builder.getI32Type(), worker, table, into));
}

/// A sum of extents; those of ids that are counted at run time cannot be added
/// before they are evaluated.
static Value firstOccurrence(StageEmitter &emitter, ValueRange ids,
                             unsigned input) {
  Value first;
  for (Value earlier : ids.take_front(input)) {
    Value count = emitter.evaluate(emitter.sizes.elements(earlier));
    first = first ? Value(arith::AddIOp::create(emitter.builder, first, count))
                  : count;
  }
  return first ? first : emitter.index(0);
}

static rt::Pooling poolingOf(ArrayAttr poolings, unsigned input) {
  return static_cast<rt::Pooling>(
      cast<nn::PoolingAttr>(poolings[input]).getValue());
}

static constexpr int64_t kIndexBytes = sizeof(int32_t);

void pdlc::emitPool(StageEmitter &emitter, nn::PoolOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  int64_t lookup = emitter.sizes.lookupOf(op.getInverse());
  Value rows = emitter.view(op.getRows());
  for (auto [input, result] : llvm::enumerate(op.getPooled())) {
    Value first = firstOccurrence(emitter, op.getIds(), input);
    Value offset =
        arith::MulIOp::create(builder, first, emitter.index(kIndexBytes));
    Value inverse = emitter.viewAt(
        emitter.pointer(rt::Place::lookup_inverse, lookup), offset,
        emitter.sizes.elements(op.getIds()[input]), {}, builder.getI32Type());
    Value splits = op.getSplitsOf(input);
    rt::PoolOp::create(builder, poolingOf(op.getPoolings(), input), rows,
                       inverse, splits ? emitter.flat(splits) : Value(),
                       emitter.view(result));
  }
}

void pdlc::emitPoolGradient(StageEmitter &emitter, nn::PoolGradientOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  Value lookup = emitter.pointer(rt::Place::lookup,
                                 emitter.sizes.lookupOf(op.getInverse()));
  Value out = emitter.view(op.getGradient());
  unsigned cotangent = 0;
  for (unsigned input = 0; input < op.getIds().size(); ++input) {
    if (!op.getPresent()[input])
      continue;
    Value first = firstOccurrence(emitter, op.getIds(), input);
    Extent extent = emitter.sizes.elements(op.getIds()[input]);
    Value splits, bagOf;
    if (Value bags = op.getSplitsOf(input)) {
      splits = emitter.flat(bags);
      bagOf = emitter.scratchView(emitter.plan.scratch(op), extent,
                                  builder.getI32Type());
      rt::BagOfOp::create(builder, splits, bagOf);
    }
    rt::PoolGradientOp::create(builder, poolingOf(op.getPoolings(), input),
                               emitter.view(op.getCotangents()[cotangent]),
                               lookup, first, emitter.evaluate(extent), bagOf,
                               splits,
                               /*accumulate=*/cotangent > 0, out);
    ++cotangent;
  }
  if (cotangent == 0)
    emitter.fill(
        op.getGradient(),
        emitter.scalar(
            cast<RankedTensorType>(op.getGradient().getType()).getElementType(),
            0));
}
