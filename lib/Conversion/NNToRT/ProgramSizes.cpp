//===- ProgramSizes.cpp - Sizes of the tensors of a program ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramSizes.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Interfaces/StageOpInterface.h"

using namespace mlir;
using namespace pdlc;

Extent Extent::scaled(int64_t factor, int64_t divisor) const {
  Extent result = *this;
  for (int64_t *part : {&result.constant, &result.perBatch, &result.perKey,
                        &result.perOccurrence, &result.perCount})
    *part = *part * factor / divisor;
  return result;
}

Extent Extent::plus(int64_t number) const {
  Extent result = *this;
  result.constant += number;
  return result;
}

bool Extent::isMultipleOf(int64_t unit) const {
  return constant % unit == 0 && perBatch % unit == 0 && perKey % unit == 0 &&
         perOccurrence % unit == 0 && perCount % unit == 0;
}

int64_t pdlc::innerElements(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t count = 1;
  for (int64_t i = 1; i < type.getRank(); ++i)
    count *= type.getDimSize(i);
  return count;
}

int64_t pdlc::elementBytes(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth() / 8;
}

SmallVector<nn::SymbolGradient> pdlc::gradientsOf(nn::ProgramOp program) {
  SmallVector<nn::SymbolGradient> gradients;
  for (Operation &op : program.getBody().front())
    if (auto update = dyn_cast<nn::UpdateOp>(op))
      gradients.push_back(
          {update.getSymbolAttr(), update.getGradient(), update.getKeys()});
    else if (auto gradient = dyn_cast<rt::GradientOp>(op))
      gradients.push_back({gradient.getSymbolAttr(), gradient.getGradient(),
                           gradient.getKeys(), gradient.getEarly()});
  return gradients;
}

int32_t pdlc::objectiveOf(nn::LossSumOp sum) {
  int32_t before = 0;
  for (auto other : sum->getBlock()->getOps<nn::LossSumOp>()) {
    if (other == sum)
      break;
    ++before;
  }
  return before;
}

SmallVector<int32_t> pdlc::objectivesOf(nn::ProgramOp program) {
  DenseMap<Operation *, int32_t> numbers;
  for (auto sum : program.getBody().getOps<nn::LossSumOp>())
    numbers.try_emplace(sum, numbers.size());
  SmallVector<int32_t> objectives;
  for (auto update : program.getBody().getOps<nn::UpdateOp>()) {
    nn::LossSumOp sum;
    for (Value scalar : update.getScalars())
      if (auto once = scalar.getDefiningOp<nn::OnceOp>())
        sum = once.getWeight().getDefiningOp<nn::LossSumOp>();
    objectives.push_back(sum ? numbers.lookup(sum) : 0);
  }
  if (llvm::all_of(objectives, [](int32_t each) { return each == 0; }))
    objectives.clear();
  return objectives;
}

static Extent perBatch(int64_t factor) {
  Extent extent;
  extent.perBatch = factor;
  return extent;
}

Extent Extent::counting(Value ids) {
  Extent extent;
  extent.perCount = 1;
  extent.counted = ids;
  return extent;
}

ProgramSizes::ProgramSizes(nn::ProgramOp program, int64_t sumChunks)
    : sumChunks(sumChunks) {
  Block &body = program.getBody().front();
  unsigned argument = 0;
  for (nn::FieldOp field : program.getFields()) {
    Value values = body.getArgument(argument++);
    if (!field.isRagged()) {
      extents[values] = perBatch(1);
      continue;
    }
    extents[values] = Extent::counting(values);
    extents[body.getArgument(argument++)] = perBatch(field.getWidth()).plus(1);
  }
  for (auto pull : body.getOps<nn::PullOp>()) {
    places.try_emplace(pull.getKeys().getDefiningOp(),
                       static_cast<int32_t>(pulls.size()));
    numbers[pull] = static_cast<int32_t>(pulls.size());
    pulls.push_back(pull);
  }
  for (Operation &op : body)
    addOp(op);
}

void ProgramSizes::addOp(Operation &op) {
  // The yielded values may determine the number of rows of the results.
  if (auto owner = dyn_cast<BodyOpInterface>(op))
    addBodies(owner);
  for (OpResult result : op.getResults())
    extents[result] = infer(result);
}

void ProgramSizes::addBodies(BodyOpInterface owner) {
  for (Region &body : owner->getRegions()) {
    for (BlockArgument argument : body.getArguments()) {
      if (Value counted = owner.getCounted(argument)) {
        extents[argument] = first(counted);
        continue;
      }
      auto type = cast<RankedTensorType>(argument.getType());
      bool isOne = type.getRank() == 0 || type.isDynamicDim(0);
      extents[argument] = Extent().plus(isOne ? 1 : type.getDimSize(0));
    }
    for (Operation &op : body.front())
      addOp(op);
  }
}

int32_t ProgramSizes::lookupOf(Value unique) const {
  auto found = places.find(unique.getDefiningOp());
  return found == places.end() ? -1 : found->second;
}

Extent ProgramSizes::elements(Value tensor) const {
  return first(tensor).scaled(innerElements(tensor));
}

Extent ProgramSizes::bytes(Value tensor) const {
  return elements(tensor).scaled(elementBytes(tensor));
}

Extent ProgramSizes::ofOperands(Operation *op) const {
  for (Value operand : op->getOperands())
    if (auto from = dyn_cast<RankedTensorType>(operand.getType()))
      if (from.getRank() > 0 && from.isDynamicDim(0))
        return first(operand);
  return {};
}

Extent ProgramSizes::infer(OpResult result) const {
  auto type = cast<RankedTensorType>(result.getType());
  Extent extent;
  if (type.getRank() == 0)
    return extent.plus(1);
  if (!type.isDynamicDim(0))
    return extent.plus(type.getDimSize(0));
  Operation *op = result.getOwner();
  auto inStage = dyn_cast<StageOpInterface>(op);
  if (!inStage)
    return ofOperands(op);
  inStage.inferExtent(result, *this, extent);
  return extent;
}
