//===- Engine.cpp - The step of a program ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/Engine.h"

#include "pdlrt/Trainer/StopSignal.h"

using namespace pdlrt;

StepEngine::~StepEngine() = default;

Engine::Engine(Model &model, const pdl_program &program, int workers,
               Scheduler &scheduler, Communicator &communicator)
    : model(model), program(program), communicator(communicator),
      replicaSet(model, program,
                 ReplicaLayout::local(communicator.localGroupCount(), workers),
                 /*ringSize=*/1, scheduler),
      blocks(gradientBlocks(model.descriptor(), program)),
      updater(model, program, scheduler) {}

/// The symbol of a block whose merged gradient is not finite, -1 if all are.
/// Parts that are finite may have a sum that is not, and a sum of weights below
/// one makes quotients larger than what they are made of.
static int32_t findNonFiniteSum(std::span<const GradientBlock> blocks,
                                const Contribution &merged) {
  const double weight = merged.weightSum;
  auto areFinite = [&](int32_t type, int64_t count, const void *values) {
    return weight < 1 ? allQuotientsFinite(type, count, values, weight)
                      : allFinite(type, count, values);
  };
  for (size_t b = 0; b < blocks.size(); ++b) {
    const BlockGradient &gradient = merged.blocks[b];
    const int32_t type = blocks[b].elementType;
    const int64_t count = blocks[b].elementCount;
    bool finite = !gradient.dense || areFinite(type, count, gradient.dense);
    for (int64_t k = 0; finite && k < gradient.keyCount; ++k)
      finite = areFinite(type, count, gradient.gradients[k]);
    if (!finite)
      return blocks[b].symbol;
  }
  return -1;
}

Expected<StepResult> Engine::step(std::span<const StepInput> inputs) {
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(inputs));
  PDLRT_RETURN_IF_ERROR(replicaSet.compute());
  StepResult result;
  for (const StepInput &input : inputs)
    result.samples += input.samples;
  if (!program.has_loss)
    return result;

  Expected<std::span<const Contribution>> groups = replicaSet.sumGroups(blocks);
  if (!groups)
    return groups.status();
  Expected<const Contribution *> merged =
      communicator.exchange(blocks, *groups);
  if (!merged)
    return merged.status();
  result.lossSum = (*merged)->lossSum;
  result.weightSum = (*merged)->weightSum;
  if (program.update_count > 0) {
    result.skipped = !(result.weightSum > 0);
    if (result.skipped)
      return result;
    if (replicaSet.count() > 1 || result.weightSum < 1)
      if (int32_t symbol = findNonFiniteSum(blocks, **merged); symbol >= 0)
        return Status::invalid(
            std::string("the sum of all replicas' gradients of @") +
            model.descriptor().symbols[symbol].name +
            ", divided by the sum of weights, is not finite; nothing of this "
            "step was applied: lower the "
            "rate, or look for extreme values in the data");
    updater.apply(**merged);
  }
  return result;
}

Status Engine::begin(RoundSource newSource) {
  source = std::move(newSource);
  return {};
}

Expected<std::optional<StepResult>> Engine::next(bool /*last*/) {
  Expected<std::span<const StepInput>> inputs = source();
  if (!inputs)
    return inputs.status();
  if (inputs->empty())
    return std::optional<StepResult>();
  Expected<StepResult> result = step(*inputs);
  if (!result)
    return result.status();
  return std::optional<StepResult>(*result);
}

bool Engine::stopped() const { return stopSignal() != 0; }
