//===- Engine.cpp - The step of a program ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/Engine.h"

#include "pdlrt/Core/Metrics.h"

using namespace pdlrt;

Engine::Engine(Model &model, const pdl_program &program, int workers,
               Scheduler &scheduler, Communicator &communicator)
    : model(model), program(program), workers(workers), scheduler(scheduler),
      communicator(communicator),
      blocks(gradientBlocks(model.descriptor(), program)),
      updater(model, program, scheduler) {
  const int groups = communicator.localGroupCount();
  for (int i = 0; i < groups * workers; ++i)
    replicas.push_back(std::make_unique<Replica>(model, program));
  statuses.resize(replicas.size());
  nonFinite.resize(replicas.size());
  workerParts.resize(workers);
  groupParts.resize(groups);
  groupSums.resize(groups);
}

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

/// Such as "batch 12 of clicks.tsv (group 0, worker 1)".
static std::string placeOf(const StepInput &input, int replica, int workers) {
  return "batch " + std::to_string(input.batchIndex) + " of " +
         std::string(input.file) + " (group " +
         std::to_string(replica / workers) + ", worker " +
         std::to_string(replica % workers) + ")";
}

Expected<StepResult> Engine::step(std::span<const StepInput> inputs) {
  const int count = replicaCount();
  scheduler.parallelFor(count, [&](int64_t r) {
    Replica &replica = *replicas[r];
    statuses[r] = {};
    if (inputs[r].samples == 0)
      replica.skipStep();
    else
      statuses[r] = replica.prepare(inputs[r]);
  });
  for (int r = 0; r < count; ++r)
    if (!statuses[r].ok())
      return std::move(statuses[r]).withContext(placeOf(inputs[r], r, workers));

  scheduler.parallelFor(count, [&](int64_t r) {
    nonFinite[r].clear();
    if (inputs[r].samples == 0)
      return;
    replicas[r]->compute();
    nonFinite[r] = replicas[r]->findNonFinite();
  });
  for (int r = 0; r < count; ++r)
    if (!nonFinite[r].empty())
      return Status::invalid(
          nonFinite[r] + " is not finite in " + placeOf(inputs[r], r, workers) +
          "; nothing of this step was applied: lower the rate, clip the "
          "gradients, or look for extreme values in that batch");
  if (!program.has_loss)
    return StepResult();

  for (size_t g = 0; g < groupParts.size(); ++g) {
    for (int w = 0; w < workers; ++w)
      workerParts[w] = replicas[g * workers + w]->contribution();
    PDLRT_RETURN_IF_ERROR(groupSums[g].assign(blocks, workerParts, scheduler));
    groupParts[g] = groupSums[g].result();
  }
  Expected<const Contribution *> merged =
      communicator.exchange(blocks, groupParts);
  if (!merged)
    return merged.status();
  StepResult result;
  result.lossSum = (*merged)->lossSum;
  result.weightSum = (*merged)->weightSum;
  if (program.update_count > 0) {
    result.skipped = !(result.weightSum > 0);
    if (result.skipped)
      return result;
    if (count > 1 || result.weightSum < 1)
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

void Engine::sumMetric(int32_t index, pdl_metric_data &sum) const {
  const pdl_metric &metric = model.descriptor().metrics[index];
  std::vector<int64_t> counts(metricCountSize(metric));
  std::vector<double> sums(metricSumSize(metric));
  for (size_t g = 0; g < groupParts.size(); ++g) {
    counts.assign(counts.size(), 0);
    sums.assign(sums.size(), 0);
    pdl_metric_data group = {counts.data(), sums.data()};
    for (int w = 0; w < workers; ++w)
      addMetric(metric, replicas[g * workers + w]->metric(index), group);
    addMetric(metric, group, sum);
  }
}

void Engine::resetCounters() {
  for (std::unique_ptr<Replica> &replica : replicas)
    replica->resetCounters();
}

PullCounts Engine::pullCounts() const {
  PullCounts sum;
  for (const std::unique_ptr<Replica> &replica : replicas)
    sum += replica->pullCounts();
  return sum;
}
