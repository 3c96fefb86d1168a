//===- AsyncEngine.cpp - The step of workers by themselves ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/AsyncEngine.h"

#include "pdlrt/Trainer/RemoteEngine.h"
#include "pdlrt/Trainer/StopSignal.h"

using namespace pdlrt;

static std::vector<Model *> mirrorsOf(std::span<const AsyncWorker> workers) {
  std::vector<Model *> mirrors;
  for (const AsyncWorker &worker : workers)
    mirrors.push_back(worker.mirror);
  return mirrors;
}

AsyncEngine::AsyncEngine(std::span<const AsyncWorker> workers,
                         const pdl_program &program,
                         const ReplicaLayout &layout, Scheduler &scheduler)
    : descriptor(workers.front().mirror->descriptor()), program(program),
      scheduler(scheduler), workers(workers.begin(), workers.end()),
      replicaSet(mirrorsOf(workers), program, layout, /*ringSize=*/2,
                 scheduler),
      rows(workers.size()), sums(workers.size()), statuses(workers.size()) {}

bool AsyncEngine::stopped() const { return stopSignal() != 0; }

StepCosts AsyncEngine::costs() const {
  StepCosts result = ownCosts;
  for (const AsyncWorker &worker : workers)
    result.exchange.add(worker.state->costsOf(program));
  result.exchange.serialise /= double(workers.size());
  result.exchange.wait /= double(workers.size());
  return result;
}

Status AsyncEngine::prepareNext(bool none) {
  Expected<int64_t> samples =
      prepareNextRound(source, none, replicaSet, stopwatch, ownCosts);
  if (!samples)
    return samples.status();
  preparedSamples = *samples;
  for (size_t w = 0; w < workers.size(); ++w)
    PDLRT_RETURN_IF_ERROR(
        rows[w].gather(descriptor, program, replicaSet, int(w), 1));
  ownCosts.prepare += stopwatch.lap();
  return {};
}

Status AsyncEngine::exchange(bool first) {
  scheduler.parallelFor(int64_t(workers.size()), [&](int64_t w) {
    RoundOffer offer;
    offer.first = first;
    offer.sum = sums[w];
    offer.next = rows[w].requests();
    offer.contributesNext = replicaSet[int(w)].current().input().samples > 0;
    offer.stop = stopped();
    statuses[w] = {};
    if (offer.sum || offer.contributesNext)
      statuses[w] = workers[w].state->exchange(offer).status();
  });
  for (Status &status : statuses)
    PDLRT_RETURN_IF_ERROR(std::move(status));
  return {};
}

Status AsyncEngine::begin(RoundSource newSource) {
  source = std::move(newSource);
  stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(prepareNext(/*none=*/false));
  sums.assign(sums.size(), nullptr);
  return exchange(/*first=*/true);
}

Expected<std::optional<StepResult>> AsyncEngine::next(bool last) {
  if (preparedSamples == 0)
    return std::optional<StepResult>();
  StepResult result;
  result.samples = preparedSamples;
  // What was done since the last step is none of its cost.
  stopwatch.lap();
  PDLRT_RETURN_IF_ERROR(replicaSet.compute());
  ownCosts.compute += stopwatch.lap();
  for (size_t w = 0; w < workers.size(); ++w) {
    const Contribution &own = replicaSet[int(w)].current().contribution();
    sums[w] = own.present ? &own : nullptr;
    if (!own.present)
      continue;
    result.lossSum += own.lossSum;
    result.weightSum += own.weightSum;
  }
  PDLRT_RETURN_IF_ERROR(prepareNext(last));
  PDLRT_RETURN_IF_ERROR(exchange(/*first=*/false));
  ++ownCosts.steps;
  result.skipped = !(result.weightSum > 0);
  return std::optional<StepResult>(result);
}
