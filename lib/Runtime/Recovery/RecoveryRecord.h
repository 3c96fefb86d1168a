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

/// Recovery record of a trainer. A trainer attaches it to a request. After a
/// restart, the trainer repeats this request and continues from there. All
/// counts are those at the time of the request.
struct RecoveryRecord {
  /// Kind of the request.
  enum class Place : int64_t {
    /// First round of an epoch, or of the rest of an epoch.
    EpochBegins,
    /// Round of a step: its gradients, and the keys of the next step.
    Step,
    /// Sum of the counts of an epoch.
    EpochEnds,
    /// A sum in which trainers meet: before a checkpoint, or when they have
    /// done their steps of an epoch. Only in modes in which workers step
    /// independently.
    Meets,
  };
  Place place = Place::EpochBegins;
  /// Digest of the flags on which the result of the training depends.
  int64_t flags = 0;
  int64_t epoch = 0;
  /// Counts of the training, over all runs.
  int64_t totalSteps = 0, totalSamples = 0, skippedUpdates = 0;
  int64_t resumedSteps = 0, resumedSamples = 0, stepsInEpoch = 0;
  /// Lines of the log of losses; -1: no log.
  int64_t lossLines = -1;
  /// Progress of the last checkpoint.
  int64_t savedSteps = 0, savedEpoch = 0;
  /// `TrainingState::savedEventTime`.
  int64_t savedEventTime = 0;
  /// Largest number of steps of any trainer at the last meeting.
  int64_t agreedSteps = 0;
  /// True if the epoch has reached the end of the data. Set for EpochEnds.
  bool epochEnded = false;
  /// True if this process has done its steps of the epoch. Set for Meets.
  bool stepsEnded = false;
  /// If workers step independently, the number of steps of the pass that
  /// `report` includes.
  int64_t passSteps = 0;
  /// Counts of the epoch, without the step of this request.
  PassReport report;
  int64_t badRows = 0;
  /// Positions in the data at which the next round starts, one for each local
  /// group. Empty at the start of an epoch that is read as a whole.
  std::vector<DataPosition> positions;
  /// If the running epoch was divided among other replicas, the number of
  /// training steps at which it was; otherwise 0.
  int64_t dividedAt = 0;
  /// Set for Step.
  PendingStep step;
  /// Metrics of the local replicas, including the step of this request.
  MetricSums metrics;

  /// Adds a step that was done after the request to which this record is
  /// attached.
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
  /// between two steps.
  bool isInPass() const {
    return place == Place::Step || (place == Place::Meets && !stepsEnded);
  }
  /// Returns true if this record includes more steps than `other`. Only for
  /// modes in which workers step independently.
  bool isLaterThan(const RecoveryRecord &other) const {
    return std::pair(epoch, passSteps) >
           std::pair(other.epoch, other.passSteps);
  }
};

/// Recovery record of one worker, which the worker attaches to each of its
/// requests. Used in modes in which workers step independently.
struct WorkerRecoveryRecord {
  /// Record of the process when it last counted a step that all workers have
  /// done. Its positions are those of the start of the pass, and its metrics
  /// are those of all replicas at that start. Both are empty if the pass
  /// started with the epoch.
  RecoveryRecord process;
  WorkerMark mark;
  /// Positions in the data at which the worker's next round starts, one for
  /// each local group.
  std::vector<DataPosition> positions;
  int64_t badRows = 0;
  /// Metrics of the worker's replica, including the steps in `mark`.
  std::vector<double> metrics;
};

Message encodeRecoveryRecord(const WorkerRecoveryRecord &record);
Expected<WorkerRecoveryRecord>
decodeWorkerRecoveryRecord(const Message &message);

Message encodeRecoveryRecord(const RecoveryRecord &record);
/// Decodes a recovery record. `message` may contain any bytes; if they are not
/// a record, returns an error.
Expected<RecoveryRecord> decodeRecoveryRecord(const Message &message);

/// Restores the metrics of the replicas of this process. Returns an error if
/// the record was made with other replicas or metrics.
Status restoreMetrics(const RecoveryRecord &record, ReplicaSet &set);

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_RECOVERYRECORD_H
