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

/// Which replicas of a job live in this process.
struct ReplicaLayout {
  /// Groups of the whole job, and workers in each of them.
  int groups = 1;
  int workers = 1;
  /// The groups [firstGroup, firstGroup + localGroups) are here.
  int firstGroup = 0;
  int localGroups = 1;

  /// All of them in one process.
  static ReplicaLayout local(int groups, int workers) {
    return {groups, workers, 0, groups};
  }
  int localReplicas() const { return localGroups * workers; }
};

/// Runs the stages of a program on all replicas of this process, and sums over
/// the workers of each group. Worker w of the local group g is replica
/// g * workers + w. Results do not depend on the scheduler. One thread at a
/// time.
class ReplicaSet {
public:
  /// All outlive the set. `ringSize`: batches of a replica that are alive at
  /// once.
  ReplicaSet(Model &model, const pdl_program &program,
             const ReplicaLayout &layout, int ringSize, Scheduler &scheduler);

  /// The same with a model for each replica.
  ReplicaSet(std::span<Model *const> models, const pdl_program &program,
             const ReplicaLayout &layout, int ringSize, Scheduler &scheduler);

  const ReplicaLayout &layout() const { return replicaLayout; }
  int count() const { return int(replicas.size()); }
  Replica &operator[](int index) { return *replicas[index]; }
  const Replica &operator[](int index) const { return *replicas[index]; }

  /// Goes to the next context of each ring and prepares its batch. `inputs`:
  /// one for each replica; an empty list: no replica has a batch.
  Status prepare(std::span<const StepInput> inputs);
  /// Computes what was prepared last; an error where loss or gradients, or in a
  /// frozen program what a metric observed, are not finite.
  Status compute();
  /// Computes what was prepared last, and beside it prepares `inputs`, one for
  /// each replica, in the next context of each ring: how that ended, and how
  /// long it took, goes to `following`. `advance` goes there.
  struct Following {
    Status status;
    /// Of the replica that took longest.
    double seconds = 0;
  };
  Status compute(std::span<const StepInput> inputs, Following &following);
  /// Goes to the next context of each ring.
  void advance();
  /// `prepare` and `compute` for one replica. Threads may do it beside each
  /// other, each for another replica.
  Status prepare(int replica, const StepInput &input);
  Status compute(int replica);
  /// Prepares a batch in the next context of that replica's ring, which
  /// `advance` goes to; beside `compute` of the current one.
  Status prepareFollowing(int replica, const StepInput &input);
  void advance(int replica) { replicas[replica]->advance(); }
  /// Sums of dense gradients go to `taker`, which outlives the set, while
  /// `compute` of all replicas goes on. Of one local group; `blocks`, which
  /// outlive it too, are those of `sumGroups`.
  void giveEarly(std::span<const GradientBlock> blocks, EarlyGradients &taker);
  /// How many threads a replica has while it computes.
  int threadsOfReplica() const;
  /// After `compute`: the sum of each group's workers, valid until the next
  /// call and the next batch in the same context of the ring.
  Expected<std::span<const Contribution>>
  sumGroups(std::span<const GradientBlock> blocks);

  /// How many samples metrics of groups may keep in this process, its share of
  /// the `most` of the job.
  void limitGroupedSamples(int64_t most, int64_t share) {
    mostGroupedSamples = most;
    groupedSamplesShare = share;
  }

  /// Adds the metrics of all replicas, workers of a group first, then groups,
  /// to the zeroed sums of the descriptor's metric `index`. Of a metric of
  /// groups that is the first sum alone; `groupsOf` has what makes the others.
  void sumMetric(int32_t index, std::span<double> sum) const;
  /// What each replica that is here keeps for a metric of groups.
  std::vector<const pdlabi::GroupedSamples *> groupsOf(int32_t index) const;
  /// Whose metrics: those of the replicas that are here, or of all replicas of
  /// the job.
  enum class MetricScope { Process, Job };
  /// The metrics of each replica. Those of other processes are zeros, so that
  /// the sum over processes is that of all.
  MetricSums collectMetrics(MetricScope scope) const;
  /// Sets those of the replicas that are here, to what was collected from as
  /// many replicas.
  void restoreMetrics(MetricScope scope, const MetricSums &from);
  /// The metrics of one replica that is here, one after the other; sets them to
  /// such numbers, and says whether there are as many. Beside other replicas.
  std::vector<double> metricsOf(int replica) const;
  bool restoreMetricsOf(int replica, std::span<const double> from);
  /// Moves out the samples that metrics of groups keep: by metric of the
  /// descriptor, in it by replica that is here.
  std::vector<pdlabi::GroupedSamples> takeGroups();
  /// Gives such samples back to as many replicas; empty: there are none.
  void restoreGroups(std::vector<pdlabi::GroupedSamples> from);
  /// Zeroes metrics and pull counts of all replicas, and forgets samples of
  /// groups.
  void resetCounters();
  /// What the pulls of all replicas met since the last reset.
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
  /// Where gradients are added before, if they are on devices.
  DeviceState *const deviceState;
  std::vector<std::unique_ptr<Replica>> replicas;
  /// One place for each replica, so that the first error in order is reported.
  std::vector<Status> statuses;
  std::vector<Following> followings;
  std::vector<Contribution> workerParts, groupParts;
  std::vector<RunningSum> groupSums;
  /// Null: nobody takes gradients before a step is computed.
  std::unique_ptr<EarlySums> earlySums;
  int64_t mostGroupedSamples = INT64_MAX;
  int64_t groupedSamplesShare = INT64_MAX;
  /// What all replicas keep.
  std::atomic<int64_t> groupedCount = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPLICASET_H
