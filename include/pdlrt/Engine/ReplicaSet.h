//===- ReplicaSet.h - The replicas of one process ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_REPLICASET_H
#define PDLRT_ENGINE_REPLICASET_H

#include "pdlrt/Engine/EarlyGradients.h"
#include "pdlrt/Engine/Replica.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Sum/RunningSum.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// The replicas of a job that run in this process.
struct ReplicaLayout {
  /// Number of groups in the whole job, and of workers in each group.
  int groups = 1;
  int workers = 1;
  /// The groups [firstGroup, firstGroup + localGroups) run in this process.
  int firstGroup = 0;
  int localGroups = 1;

  /// Returns the layout with all groups in one process.
  static ReplicaLayout local(int groups, int workers) {
    return {groups, workers, 0, groups};
  }
  int localReplicas() const { return localGroups * workers; }
};

/// Runs the stages of a program on all replicas of this process, and sums over
/// the workers of each group. Worker w of the local group g is replica g *
/// workers + w. Results do not depend on the scheduler. Not thread-safe.
class ReplicaSet {
public:
  /// The references must outlive the set. `ringSize`: number of batches of a
  /// replica that are alive at the same time.
  ReplicaSet(Model &model, const pdl_program &program,
             const ReplicaLayout &layout, int ringSize, Scheduler &scheduler);

  /// The same with a separate model for each replica.
  ReplicaSet(std::span<Model *const> models, const pdl_program &program,
             const ReplicaLayout &layout, int ringSize, Scheduler &scheduler);

  const ReplicaLayout &layout() const { return replicaLayout; }
  int count() const { return int(replicas.size()); }
  Replica &operator[](int index) { return *replicas[index]; }
  const Replica &operator[](int index) const { return *replicas[index]; }

  /// Advances each ring and prepares the batch of the new current context.
  /// `inputs`: one for each replica; an empty list means that no replica has a
  /// batch.
  Status prepare(std::span<const StepInput> inputs);
  /// Computes the batches that were prepared last. Returns an error if losses
  /// or gradients (in a frozen program, the observations of metrics) are not
  /// finite.
  Status compute();
  /// Computes the batches that were prepared last. Concurrently prepares
  /// `inputs`, one for each replica, in the next context of each ring, which a
  /// later `advance` makes current. The status and duration of the preparation
  /// are stored in `following`.
  struct Following {
    Status status;
    /// Seconds of the slowest replica.
    double seconds = 0;
  };
  Status compute(std::span<const StepInput> inputs, Following &following);
  /// Makes the next context of each ring the current one.
  void advance();
  /// Prepare and compute the batch of one replica. Threads may call them
  /// concurrently for different replicas.
  Status prepare(int replica, const StepInput &input);
  Status compute(int replica);
  /// Prepares a batch in the next context of this replica's ring, which
  /// `advance` makes current. Can run concurrently with `compute` of the
  /// current one.
  Status prepareFollowing(int replica, const StepInput &input);
  void advance(int replica) { replicas[replica]->advance(); }
  /// From now on, passes sums of dense gradients to `taker` while `compute` of
  /// all replicas runs. Only with one local group. `blocks` are those of
  /// `sumGroups`. Both must outlive the set.
  void giveEarly(std::span<const GradientBlock> blocks, EarlyGradients &taker);
  /// Returns the number of threads of a replica during compute.
  int threadsOfReplica() const;
  /// Returns, after `compute`, the sum over the workers of each group. Valid
  /// until the next call, and until the next batch in the same context of the
  /// ring.
  Expected<std::span<const PartialSum>>
  sumGroups(std::span<const GradientBlock> blocks);

  /// Limits the number of samples that metrics of groups keep in this process
  /// to its share of the job's maximum `most`.
  void limitGroupedSamples(int64_t most, int64_t share) {
    maxGroupedSamples = most;
    groupedSamplesShare = share;
  }

  /// Adds the metrics of all replicas, workers of a group first, then groups,
  /// to the zeroed sums of the descriptor's metric `index`. For a metric of
  /// groups only the first sum is added; the others are computed from
  /// `groupsOf`.
  void sumMetric(int32_t index, std::span<double> sum) const;
  /// Returns the samples that each local replica keeps for a metric of groups.
  std::vector<const pdlabi::GroupedSamples *> groupsOf(int32_t index) const;
  /// Selects the metrics of the local replicas, or of all replicas of the job.
  enum class MetricScope { Process, Job };
  /// Returns the metrics of each replica. Those of other processes are zeros,
  /// so that the sum over processes has the metrics of all replicas.
  MetricSums collectMetrics(MetricScope scope) const;
  /// Sets the metrics of the local replicas to values collected from the same
  /// number of replicas.
  void restoreMetrics(MetricScope scope, const MetricSums &from);
  /// Returns the metrics of one local replica as a flat list, or sets them from
  /// such a list. `restoreMetricsOf` returns false if the size differs. Can run
  /// concurrently with other replicas.
  std::vector<double> metricsOf(int replica) const;
  bool restoreMetricsOf(int replica, std::span<const double> from);
  /// Moves out the samples that metrics of groups keep, by descriptor metric,
  /// then by local replica.
  std::vector<pdlabi::GroupedSamples> takeGroups();
  /// Returns such samples to the same number of replicas. Empty: there are
  /// none.
  void restoreGroups(std::vector<pdlabi::GroupedSamples> from);
  /// Resets metrics and pull counters of all replicas, and discards samples of
  /// groups.
  void resetCounters();
  /// Counters of the pulls of all replicas since the last reset.
  PullCounts pullCounts() const;

private:
  std::string placeOf(int replica, const StepInput &input) const;
  std::string placeOf(int replica) const {
    return placeOf(replica, replicas[replica]->current().input());
  }
  Status prepareIn(BatchContext &context, int replica, const StepInput &input);
  Status firstError();
  template <typename Visit>
  void forEachReplicaMetric(MetricScope scope, MetricSums &all,
                            Visit visit) const;
  Status forEach(TaskRef task);
  void beginCompute();
  Status checkGroups(int replica, int64_t before);

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  const ReplicaLayout replicaLayout;
  Scheduler &scheduler;
  /// If not null, gradients on devices are first summed there.
  DeviceState *const deviceState;
  std::vector<std::unique_ptr<Replica>> replicas;
  /// One entry for each replica, so that the first error in order is reported.
  std::vector<Status> statuses;
  std::vector<Following> followings;
  std::vector<PartialSum> workerParts, groupParts;
  std::vector<RunningSum> groupSums;
  /// Null: gradients are not passed on during a step.
  std::unique_ptr<EarlySums> earlySums;
  int64_t maxGroupedSamples = INT64_MAX;
  int64_t groupedSamplesShare = INT64_MAX;
  /// Number of samples that all replicas keep.
  std::atomic<int64_t> groupedCount = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPLICASET_H
