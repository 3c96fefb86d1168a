//===- Stages.cpp - Stages of a step --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

static constexpr llvm::StringLiteral kStageAttrName = "stage";

static constexpr StageProperties stages[] = {
    {.stage = Stage::prepare,
     .mayFail = true,
     .isFunction = true,
     .lastsForStep = true},
    {.stage = Stage::receive, .receivesState = true},
    {.stage = Stage::compute, .isFunction = true, .readsState = true},
    {.stage = Stage::send, .sendsResults = true},
    {.stage = Stage::apply, .writesState = true},
};

ArrayRef<StageProperties> pdlc::nn::allStages() { return stages; }

const StageProperties &StageAttr::getProperties() const {
  return stages[static_cast<size_t>(getValue())];
}

std::string pdlc::nn::stageList() {
  std::string list;
  for (const StageProperties &properties : stages) {
    if (!list.empty())
      list += &properties == std::prev(std::end(stages)) ? " or " : ", ";
    list += stringifyStage(properties.stage);
  }
  return list;
}

StageAttr pdlc::nn::stageOf(Operation *op) {
  return op->getAttrOfType<StageAttr>(kStageAttrName);
}

void pdlc::nn::setStage(Operation *op, Stage stage) {
  op->setAttr(kStageAttrName, StageAttr::get(op->getContext(), stage));
}

void pdlc::nn::removeStage(Operation *op) { op->removeAttr(kStageAttrName); }
