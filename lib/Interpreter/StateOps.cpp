//===- StateOps.cpp - Constants, parameters, metrics ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

static LogicalResult evaluateConstant(ConstantOp op, Frame &frame) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("cannot be interpreted: its value is not dense");
  frame.set(op.getResult(), tensorFrom(elements));
  return success();
}

static LogicalResult evaluateRead(ReadOp op, Frame &frame) {
  const Parameter *parameter =
      frame.state().findParameter(frame.symbol(op.getSymbolAttr()));
  if (!parameter)
    return op.emitOpError()
           << "reads " << op.getSymbolAttr() << ", which holds no dense tensor";
  frame.set(op.getResult(), parameter->read(frame.isFrozen()));
  return success();
}

static LogicalResult evaluateObserve(ObserveOp op, Frame &frame) {
  Metric *metric = frame.state().findMetric(op.getMetric());
  if (!metric)
    return op.emitOpError()
           << "feeds " << op.getMetricAttr() << ", which is not an nn.metric";
  metric->observe(frame.tensor(op.getPredictions()),
                  op.getLabels() ? &frame.tensor(op.getLabels()) : nullptr,
                  op.getWeights() ? &frame.tensor(op.getWeights()) : nullptr,
                  op.getGroup() ? &frame.tensor(op.getGroup()) : nullptr);
  return success();
}

void interpreter::attachStateOps(MLIRContext &context) {
  attachEvaluator<ConstantOp, evaluateConstant>(context);
  attachEvaluator<ReadOp, evaluateRead>(context);
  attachEvaluator<ObserveOp, evaluateObserve>(context);
}
