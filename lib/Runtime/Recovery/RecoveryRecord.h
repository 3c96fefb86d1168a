//===- RecoveryRecord.h - Recovery records of trainers ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RECOVERY_RECOVERYRECORD_H
#define LIB_RUNTIME_RECOVERY_RECOVERYRECORD_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Engine/RecoveryParticipant.h"
#include "pdlrt/Engine/ReplicaSet.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pdlrt {

/// Recovery record of a trainer. It is attached to a request of the training,
/// so that a restart of the trainer can repeat that request and continue from
/// there. All counts are those at the time of the request.
struct RecoveryRecord {
  /// Kind of the request.
  enum class Place : int64_t {
    /// First round of an epoch, or of the rest of an epoch.
    EpochBegins,
    /// Round of a step: its gradients, and the keys of the next step.
    Step,
    /// Sum of the counts of an epoch.
    EpochEnds,
    /// If workers step independently: the sum in which trainers meet, before a
    /// checkpoint or when their steps of an epoch are done.
    Meets,
  };
  Place place = Place::EpochBegins;
  /// Digest of the flags that decide what is trained.
  int64_t flags = 0;
  int64_t epoch = 0;
  /// Counts of the training, over all runs.
  int64_t totalSteps = 0, totalSamples = 0, skippedUpdates = 0;
  int64_t resumedSteps = 0, resumedSamples = 0, stepsInEpoch = 0;
  /// Lines of the log of losses; -1: no log.
  int64_t lossLines = -1;
  /// Progress of the last checkpoint.
  int64_t savedSteps = 0, savedEpoch = 0;
  /// Largest number of steps of any trainer at the last meeting.
  int64_t agreedSteps = 0;
  /// True if an epoch that ends has reached the end of the data (EpochEnds).
  bool epochEnded = false;
  /// True if the steps of this process are done (Meets).
  bool stepsEnded = false;
  /// Number of steps of the pass that are counted in the report, if workers
  /// step independently.
  int64_t passSteps = 0;
  /// Counts of the epoch, without the step of this request.
  PassReport report;
  int64_t badRows = 0;
  /// Start of the next round to read, by local group; empty: the start of the
  /// epoch.
  std::vector<DataPosition> positions;
  /// Number of training steps at which the running epoch was divided; 0: its
  /// start.
  int64_t dividedAt = 0;
  /// Set for Step.
  PendingStep step;
  /// Metrics of the local replicas, including the step of this request.
  MetricSums metrics;

  /// Counts a step that was done after the request of this record.
  void addStep(const StepResult &result) {
    report.add(result);
    ++totalSteps;
    if (lossLines >= 0)
      ++lossLines;
  }
  /// Returns true if the process has no more steps in its epoch.
  bool hasDoneSteps() const {
    return place == Place::EpochEnds || (place == Place::Meets && stepsEnded);
  }
  /// Returns true if the process was in the steps of its epoch, or in a meeting
  /// between them.
  bool isInPass() const {
    return place == Place::Step || (place == Place::Meets && !stepsEnded);
  }
  /// Returns true if this record counts more steps than `other`, if workers
  /// step independently.
  bool isLaterThan(const RecoveryRecord &other) const {
    return std::pair(epoch, passSteps) >
           std::pair(other.epoch, other.passSteps);
  }
};

/// Recovery record that a worker attaches to each of its requests, if workers
/// step independently.
struct WorkerRecoveryRecord {
  /// Record of the process at its last step of all workers. Its positions are
  /// the start of the pass, and its metrics are those of all replicas at that
  /// point. Both are empty at the start of the epoch.
  RecoveryRecord process;
  WorkerMark mark;
  /// Data positions of the worker's next round, by local group as in
  /// `RecoveryRecord::positions`.
  std::vector<DataPosition> positions;
  int64_t badRows = 0;
  /// Metrics of its replica, including the steps of the mark.
  std::vector<double> metrics;
};

Message encodeRecoveryRecord(const WorkerRecoveryRecord &record);
Expected<WorkerRecoveryRecord>
decodeWorkerRecoveryRecord(const Message &message);

Message encodeRecoveryRecord(const RecoveryRecord &record);
/// Decodes a recovery record. Accepts any bytes; returns an error if they are
/// not a recovery record.
Expected<RecoveryRecord> decodeRecoveryRecord(const Message &message);

/// Restores the metrics of the replicas of this process. Returns an error if
/// the record belongs to other replicas.
Status restoreMetrics(const RecoveryRecord &record, ReplicaSet &set);

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_RECOVERYRECORD_H
