//===- StateOps.cpp - Parameters, constants, losses, metrics --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"

using namespace mlir;
using namespace pdlc;

namespace {

struct ReadStage : WithoutCode<ReadStage, nn::ReadOp> {
  std::optional<Home> getHome(Operation *op, OpResult,
                              const HomeNumbers &numbers) const {
    return Home::inContext(
        rt::Place::parameter,
        numbers.parameter(cast<nn::ReadOp>(op).getSymbolAttr()));
  }
};

struct ConstantStage : WithoutCode<ConstantStage, nn::ConstantOp> {
  LogicalResult checkInProgram(Operation *op, const ProgramSizes &) const {
    if (isa<DenseElementsAttr>(cast<nn::ConstantOp>(op).getValue()))
      return success();
    return op->emitOpError("has a value that is not dense");
  }
  std::optional<Home> getHome(Operation *, OpResult,
                              const HomeNumbers &) const {
    return Home::ofKind(Home::Constant);
  }
  DenseElementsAttr getNumbers(Operation *op) const {
    return cast<DenseElementsAttr>(cast<nn::ConstantOp>(op).getValue());
  }
};

/// The sums are written to the step context. No op of the program reads them.
struct LossSumStage : StageModel<LossSumStage, nn::LossSumOp> {
  LogicalResult emit(Operation *op, StageEmitter &emitter) const {
    auto sum = cast<nn::LossSumOp>(op);
    const int64_t objective = objectiveOf(sum);
    rt::LossSumOp::create(emitter.builder, emitter.flat(sum.getLosses()),
                          sum.getWeights() ? emitter.flat(sum.getWeights())
                                           : Value(),
                          emitter.pointer(rt::Place::loss_sum, objective),
                          emitter.pointer(rt::Place::weight_sum, objective));
    return success();
  }
  std::optional<Home> getHome(Operation *, OpResult,
                              const HomeNumbers &) const {
    return Home::ofKind(Home::None);
  }
};

} // namespace

static void emitObserve(StageEmitter &emitter, nn::ObserveOp op) {
  int64_t index = emitter.module.order.metric(op.getMetric());
  if (op.getGroup()) {
    rt::ObserveGroupsOp::create(
        emitter.builder, emitter.builder.getI32IntegerAttr(index),
        emitter.pointer(rt::Place::worker), emitter.flat(op.getPredictions()),
        emitter.flat(op.getLabels()), emitter.flat(op.getGroup()),
        op.getWeights() ? emitter.flat(op.getWeights()) : Value(),
        emitter.pointer(rt::Place::metric, index));
    return;
  }
  auto kind =
      cast<MetricAttrInterface>(emitter.module.order.metrics[index].getKind());
  rt::ObserveOp::create(
      emitter.builder, kind, emitter.view(op.getPredictions()),
      op.getLabels() ? emitter.view(op.getLabels()) : Value(),
      op.getWeights() ? emitter.flat(op.getWeights()) : Value(),
      emitter.pointer(rt::Place::metric, index));
}

void pdlc::attachStateStages(MLIRContext &context) {
  nn::ReadOp::attachInterface<ReadStage>(context);
  nn::ConstantOp::attachInterface<ConstantStage>(context);
  nn::LossSumOp::attachInterface<LossSumStage>(context);
  attachEmitter<nn::ObserveOp, emitObserve>(context);
}
