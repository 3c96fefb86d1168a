//===- ReplicaSet.cpp - The replicas of one process -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/ReplicaSet.h"

#include "pdlabi/metrics.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/State/DeviceState.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace pdlrt;

ReplicaSet::ReplicaSet(Model &model, const pdl_program &program,
                       const ReplicaLayout &layout, int ringSize,
                       Scheduler &scheduler)
    : ReplicaSet(std::vector<Model *>(layout.localReplicas(), &model), program,
                 layout, ringSize, scheduler) {}

ReplicaSet::ReplicaSet(std::span<Model *const> models,
                       const pdl_program &program, const ReplicaLayout &layout,
                       int ringSize, Scheduler &scheduler)
    : descriptor(models.front()->descriptor()), program(program),
      replicaLayout(layout), scheduler(scheduler),
      deviceState(models.front()->deviceState()) {
  for (Model *model : models)
    replicas.push_back(std::make_unique<Replica>(*model, program, ringSize,
                                                 int(replicas.size())));
  statuses.resize(replicas.size());
  followings.resize(replicas.size());
  workerParts.resize(layout.workers);
  groupParts.resize(layout.localGroups);
  groupSums.resize(layout.localGroups);
}

/// Returns a text such as "batch 12 of clicks.tsv (group 0, worker 1)".
std::string ReplicaSet::placeOf(int replica, const StepInput &input) const {
  const int group = replicaLayout.firstGroup + replica / replicaLayout.workers;
  return "batch " + std::to_string(input.batchIndex) + " of " +
         std::string(input.file) + " (group " + std::to_string(group) +
         ", worker " + std::to_string(replica % replicaLayout.workers) + ")";
}

Status ReplicaSet::prepare(int replica, const StepInput &input) {
  replicas[replica]->advance();
  return prepareIn(replicas[replica]->current(), replica, input);
}

Status ReplicaSet::prepareIn(BatchContext &context, int replica,
                             const StepInput &input) {
  const TraceSpan span("prepare", {input.samples});
  if (input.samples == 0) {
    context.skip();
    return {};
  }
  Status status = context.prepare(input);
  return status.ok() ? Status()
                     : std::move(status).withContext(placeOf(replica, input));
}

Status ReplicaSet::prepareFollowing(int replica, const StepInput &input) {
  return prepareIn(replicas[replica]->following(), replica, input);
}

Status ReplicaSet::compute(int replica) {
  BatchContext &context = replicas[replica]->current();
  if (context.input().samples == 0)
    return {};
  const TraceSpan span(program.frozen ? "forward" : "forward/backward",
                       {context.input().samples});
  const int64_t grouped = replicas[replica]->groupedCount();
  Status computed = context.compute();
  if (!computed.ok())
    return std::move(computed).withContext(placeOf(replica));
  PDLRT_RETURN_IF_ERROR(checkGroups(replica, grouped));
  for (const ObjectiveSums &sums : context.contribution().objectives)
    if (!std::isfinite(sums.weight))
      return Status::invalidArgument(
          "a weight is negative or not finite in " + placeOf(replica) +
          "; nothing of this step was applied: weights are finite and at least "
          "0");
  // Metrics that are not finite stop only frozen programs. Training stops only
  // if a loss or a gradient is not finite.
  for (int32_t m = 0; program.frozen && m < descriptor.metric_count; ++m)
    if (pdlabi::isSpoilt(replicas[replica]->metric(m)))
      return Status::invalidArgument(
          std::string("metric @") + descriptor.metrics[m].name +
          " observed a number that is not finite in " + placeOf(replica) +
          "; look for extreme values in that batch, or in those of the model");
  const std::string nonFinite = context.findNonFinite();
  if (nonFinite.empty())
    return {};
  return Status::invalidArgument(
      nonFinite + " is not finite in " + placeOf(replica) +
      "; nothing of this step was applied: lower the rate, clip the "
      "gradients, or look for extreme values in that batch");
}

/// Checks, after `compute`, that the samples of group metrics were kept and
/// that their number is within the limit. `before`: number of samples that this
/// replica kept before.
Status ReplicaSet::checkGroups(int replica, int64_t before) {
  if (replicas[replica]->current().lostSamples())
    return Status::outOfMemory(
        "out of memory for the samples that a metric of groups keeps, in " +
        placeOf(replica) +
        "; test fewer rows, or observe it in no training program");
  const int64_t added = replicas[replica]->groupedCount() - before;
  if (added == 0 ||
      groupedCount.fetch_add(added, std::memory_order_relaxed) + added <=
          groupedSamplesShare)
    return {};
  std::string limit =
      "--max-grouped-samples " + std::to_string(maxGroupedSamples) + " allows";
  if (groupedSamplesShare != maxGroupedSamples)
    limit += " this trainer, " + std::to_string(groupedSamplesShare);
  return Status::invalidArgument(
      "metrics of groups keep more samples than " + limit + ", in " +
      placeOf(replica) +
      "; they need 33 bytes each until the epoch ends, and those of all "
      "trainers meet in each: allow more, test fewer rows, or observe them in "
      "no training program");
}

int ReplicaSet::threadsOfReplica() const {
  return std::max(1, scheduler.threadCount() / count());
}

/// Returns the first error in the order of replicas.
Status ReplicaSet::firstError() {
  for (Status &status : statuses)
    if (!status.ok())
      return std::move(status);
  return {};
}

Status ReplicaSet::forEach(TaskRef task) {
  scheduler.parallelFor(count(), task, threadsOfReplica());
  return firstError();
}

Status ReplicaSet::prepare(std::span<const StepInput> inputs) {
  return forEach([&](int64_t r) {
    statuses[r] = prepare(int(r), inputs.empty() ? StepInput() : inputs[r]);
  });
}

void ReplicaSet::giveEarly(std::span<const GradientBlock> blocks,
                           EarlyGradients &taker) {
  earlySums =
      std::make_unique<EarlySums>(replicas, blocks, groupSums.front(), taker);
}

void ReplicaSet::beginCompute() {
  if (earlySums)
    earlySums->begin();
}

Status ReplicaSet::compute() {
  beginCompute();
  return forEach([&](int64_t r) { statuses[r] = compute(int(r)); });
}

Status ReplicaSet::compute(std::span<const StepInput> inputs,
                           Following &following) {
  beginCompute();
  // Computing takes longer than preparing, so it starts first.
  scheduler.parallelFor(
      2 * int64_t(count()),
      [&](int64_t task) {
        if (task < count()) {
          statuses[task] = compute(int(task));
          return;
        }
        const int r = int(task) - count();
        Stopwatch stopwatch;
        followings[r].status =
            prepareIn(replicas[r]->following(), r, inputs[r]);
        followings[r].seconds = stopwatch.lap();
      },
      threadsOfReplica());
  following = {};
  for (Following &own : followings) {
    following.seconds = std::max(following.seconds, own.seconds);
    if (following.status.ok())
      following.status = std::move(own.status);
  }
  return firstError();
}

void ReplicaSet::advance() {
  for (std::unique_ptr<Replica> &replica : replicas)
    replica->advance();
}

Expected<std::span<const PartialSum>>
ReplicaSet::sumGroups(std::span<const GradientBlock> blocks) {
  const TraceSpan span("sum over workers");
  const int workers = replicaLayout.workers;
  if (deviceState && deviceState->addsGradients()) {
    std::vector<PartialSum> parts;
    for (const std::unique_ptr<Replica> &replica : replicas)
      parts.push_back(replica->current().contribution());
    PDLRT_RETURN_IF_ERROR(deviceState->sum(blocks, parts));
  }
  for (size_t g = 0; g < groupParts.size(); ++g) {
    for (int w = 0; w < workers; ++w)
      workerParts[w] = replicas[g * workers + w]->current().contribution();
    PDLRT_RETURN_IF_ERROR(groupSums[g].assign(blocks, workerParts, scheduler));
    groupParts[g] = groupSums[g].result();
  }
  return std::span<const PartialSum>(groupParts);
}

void ReplicaSet::sumMetric(int32_t index, std::span<double> sum) const {
  const int workers = replicaLayout.workers;
  std::vector<double> group(sum.size());
  for (size_t g = 0; g < groupParts.size(); ++g) {
    group.assign(group.size(), 0);
    for (int w = 0; w < workers; ++w)
      addMetric({replicas[g * workers + w]->metric(index), sum.size()}, group);
    addMetric(group, sum);
  }
}

std::vector<const pdlabi::GroupedSamples *>
ReplicaSet::groupsOf(int32_t index) const {
  std::vector<const pdlabi::GroupedSamples *> parts;
  for (const std::unique_ptr<Replica> &replica : replicas)
    parts.push_back(&std::as_const(*replica).groups(index));
  return parts;
}

std::vector<pdlabi::GroupedSamples> ReplicaSet::takeGroups() {
  std::vector<pdlabi::GroupedSamples> taken;
  for (int32_t m = 0; m < descriptor.metric_count; ++m)
    for (std::unique_ptr<Replica> &replica : replicas)
      taken.push_back(std::exchange(replica->groups(m), {}));
  groupedCount = 0;
  return taken;
}

void ReplicaSet::restoreGroups(std::vector<pdlabi::GroupedSamples> from) {
  auto next = from.begin();
  int64_t restored = 0;
  for (int32_t m = 0; m < descriptor.metric_count; ++m)
    for (std::unique_ptr<Replica> &replica : replicas) {
      pdlabi::GroupedSamples &own = replica->groups(m);
      own = next == from.end() ? pdlabi::GroupedSamples() : std::move(*next++);
      restored += int64_t(own.size());
    }
  groupedCount = restored;
}

/// Calls visit(sums of a local replica, their position in `all`).
template <typename Visit>
void ReplicaSet::forEachReplicaMetric(MetricScope scope, MetricSums &all,
                                      Visit visit) const {
  const ReplicaLayout &layout = replicaLayout;
  const bool isJob = scope == MetricScope::Job;
  const int64_t groups = isJob ? layout.groups : layout.localGroups;
  const int64_t first = isJob ? layout.firstGroup * layout.workers : 0;
  forEachMetric(
      descriptor, groups * layout.workers, all, [&](const MetricBlock &block) {
        for (int r = 0; r < count(); ++r) {
          const std::span<double> place = block.of(first + r);
          visit(std::span(replicas[r]->metric(block.index), place.size()),
                place);
        }
      });
}

MetricSums ReplicaSet::collectMetrics(MetricScope scope) const {
  const int64_t groups = scope == MetricScope::Job ? replicaLayout.groups
                                                   : replicaLayout.localGroups;
  MetricSums all(descriptor, groups * replicaLayout.workers);
  forEachReplicaMetric(scope, all,
                       [](std::span<double> own, std::span<double> place) {
                         std::ranges::copy(own, place.begin());
                       });
  return all;
}

void ReplicaSet::restoreMetrics(MetricScope scope, const MetricSums &from) {
  MetricSums all = from;
  forEachReplicaMetric(scope, all,
                       [](std::span<double> own, std::span<double> place) {
                         std::ranges::copy(place, own.begin());
                       });
}

std::vector<double> ReplicaSet::metricsOf(int replica) const {
  MetricSums all(descriptor, 1);
  forEachMetric(descriptor, 1, all, [&](const MetricBlock &block) {
    std::copy_n(replicas[replica]->metric(block.index), block.size, block.sums);
  });
  return std::move(all.sums);
}

bool ReplicaSet::restoreMetricsOf(int replica, std::span<const double> from) {
  MetricSums all(descriptor, 1);
  if (from.size() != all.sums.size())
    return false;
  std::ranges::copy(from, all.sums.begin());
  forEachMetric(descriptor, 1, all, [&](const MetricBlock &block) {
    std::copy_n(block.sums, block.size, replicas[replica]->metric(block.index));
  });
  return true;
}

void ReplicaSet::resetCounters() {
  for (std::unique_ptr<Replica> &replica : replicas)
    replica->resetCounters();
  groupedCount = 0;
}

PullCounts ReplicaSet::pullCounts() const {
  PullCounts sum;
  for (const std::unique_ptr<Replica> &replica : replicas)
    sum += replica->pullCounts();
  return sum;
}
