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
  /// Number of groups in the whole job, and number of workers in each group.
  int groups = 1;
  int workers = 1;
  /// The groups [firstGroup, firstGroup + localGroups) run in this process.
  int firstGroup = 0;
  int localGroups = 1;

  /// Returns the layout of a job in which all groups are in one process.
  static ReplicaLayout local(int groups, int workers) {
    return {groups, workers, 0, groups};
  }
  int localReplicas() const { return localGroups * workers; }
};

/// Runs the stages of a program on all replicas of this process, and sums the
/// gradients over the workers of each group. Worker w of local group g is
/// replica g * workers + w. Results do not depend on the number of threads. Not
/// thread-safe.
class ReplicaSet {
public:
  /// `ringSize` is the number of batches of a replica that exist at the same
  /// time. The referenced objects must outlive the set.
  ReplicaSet(Model &model, const pdl_program &program,
             const ReplicaLayout &layout, int ringSize, Scheduler &scheduler);

  /// Like the constructor above, with a separate model for each replica.
  ReplicaSet(std::span<Model *const> models, const pdl_program &program,
             const ReplicaLayout &layout, int ringSize, Scheduler &scheduler);

  const ReplicaLayout &layout() const { return replicaLayout; }
  int count() const { return int(replicas.size()); }
  Replica &operator[](int index) { return *replicas[index]; }
  const Replica &operator[](int index) const { return *replicas[index]; }

  /// Advances the ring of each replica, and prepares a batch in the new current
  /// context. `inputs` has one entry for each replica. If `inputs` is empty, no
  /// replica has a batch.
  Status prepare(std::span<const StepInput> inputs);
  /// Computes the batches that were prepared last. Returns an error if a weight
  /// is negative, or if a weight, loss or gradient is not finite; in a frozen
  /// program, if a number that a metric observes is not finite.
  Status compute();
  /// Result of preparing the following batches. The function below computes the
  /// batches that were prepared last. Concurrently, it prepares `inputs`, one
  /// for each replica, in the next context of each ring, which a later
  /// `advance` makes current. It stores the status and duration of the
  /// preparation in `following`.
  struct Following {
    Status status;
    /// Time of the slowest replica, in seconds.
    double seconds = 0;
  };
  Status compute(std::span<const StepInput> inputs, Following &following);
  /// Makes the next context of each ring the current one.
  void advance();
  /// `prepare` and `compute` of a single replica. Threads may call them
  /// concurrently for different replicas.
  Status prepare(int replica, const StepInput &input);
  Status compute(int replica);
  /// Prepares a batch in the next context of this replica's ring, which
  /// `advance` makes current. Can run concurrently with `compute` of the
  /// current context.
  Status prepareFollowing(int replica, const StepInput &input);
  void advance(int replica) { replicas[replica]->advance(); }
  /// From now on, passes the sum of each dense gradient to `taker` as soon as
  /// it is complete, while `compute` of all replicas runs. Only for one local
  /// group. `blocks` is the argument of `sumGroups`. `blocks` and `taker` must
  /// outlive the set.
  void giveEarly(std::span<const GradientBlock> blocks, EarlyGradients &taker);
  /// Returns the number of threads that one replica uses in `compute`.
  int threadsOfReplica() const;
  /// Returns the sum over the workers of each local group. Call after
  /// `compute`. The result is valid until the next call, or until the next
  /// batch in the same context of the ring is computed.
  Expected<std::span<const PartialSum>>
  sumGroups(std::span<const GradientBlock> blocks);

  /// Limits the number of samples that grouped metrics store in this process to
  /// `share`, its share of the job's maximum `most`.
  void limitGroupedSamples(int64_t most, int64_t share) {
    maxGroupedSamples = most;
    groupedSamplesShare = share;
  }

  /// Adds up the sums of metric `index` of the descriptor over all replicas:
  /// first over the workers of each group, then over the groups. `sum` must be
  /// zeros at the call. For a grouped metric, only the first sum is added; the
  /// others are computed from `groupsOf` (`sumGroups` in PassReport.h).
  void sumMetric(int32_t index, std::span<double> sum) const;
  /// Returns the samples of a grouped metric that each local replica stores.
  std::vector<const pdlabi::GroupedSamples *> groupsOf(int32_t index) const;
  /// Number of replicas in a MetricSums: the local replicas, or all replicas of
  /// the job.
  enum class MetricScope { Process, Job };
  /// Returns the metrics of each replica in `scope`. Replicas of other
  /// processes have zeros, so that the sum of the results of all processes has
  /// the metrics of all replicas.
  MetricSums collectMetrics(MetricScope scope) const;
  /// Sets the metrics of the local replicas to their values in `from`, which
  /// must have the number of replicas of `scope`.
  void restoreMetrics(MetricScope scope, const MetricSums &from);
  /// `metricsOf` returns the metrics of one local replica as a flat list.
  /// `restoreMetricsOf` sets them from such a list; returns false if the size
  /// is wrong. Threads may call them concurrently for different replicas.
  std::vector<double> metricsOf(int replica) const;
  bool restoreMetricsOf(int replica, std::span<const double> from);
  /// Returns the samples that grouped metrics store, and removes them from the
  /// replicas. The order is by metric of the descriptor, then by local replica.
  std::vector<pdlabi::GroupedSamples> takeGroups();
  /// Gives samples that `takeGroups` has returned to the replicas; their number
  /// must be the same. If `from` is empty, there are no samples.
  void restoreGroups(std::vector<pdlabi::GroupedSamples> from);
  /// Resets metrics and pull counters of all replicas, and discards the samples
  /// of grouped metrics.
  void resetCounters();
  /// Returns the sum of the pull counters of all replicas since the last reset.
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
  /// State on devices; null: none. It sums the gradients that are on devices
  /// before they are copied to the host.
  DeviceState *const deviceState;
  std::vector<std::unique_ptr<Replica>> replicas;
  /// One entry for each replica, so that the first error in order is reported.
  std::vector<Status> statuses;
  std::vector<Following> followings;
  std::vector<PartialSum> workerParts, groupParts;
  std::vector<RunningSum> groupSums;
  /// Set by `giveEarly`; null: gradients are not passed on during a step.
  std::unique_ptr<EarlySums> earlySums;
  int64_t maxGroupedSamples = INT64_MAX;
  int64_t groupedSamplesShare = INT64_MAX;
  /// Number of samples that grouped metrics of all replicas store.
  std::atomic<int64_t> groupedCount = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPLICASET_H
