//===- Recovery.h - Continuing within a round -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RECOVERY_RECOVERY_H
#define LIB_RUNTIME_RECOVERY_RECOVERY_H

#include "Recovery/RecoveryParts.h"
#include "Recovery/RecoveryRecord.h"
#include "Recovery/WorkerRecovery.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Engine/RecoveryParticipant.h"
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Recovery/RecoveryChannel.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace pdlrt {

/// Recovery of a trainer within a round. Attaches recovery records to the
/// requests of this process, and continues at the record that the previous
/// incarnation attached last (docs/RationaleRecovery.md). Without a channel, it
/// attaches nothing, and there is nothing to continue. Not thread-safe.
class Recovery final : RequestObserver {
public:
  explicit Recovery(RecoveryParts given);
  Recovery(const Recovery &) = delete;
  Recovery &operator=(const Recovery &) = delete;

  //===--------------------------------------------------------------------===//
  // Restart
  //===--------------------------------------------------------------------===//

  /// Returns true if this process replaces a previous incarnation, which may
  /// have died before its first record.
  bool isRestart() const { return restarted; }
  /// Restores the counts of the training from the record of the previous
  /// incarnation. Returns false if there is no record: then this process begins
  /// like the others. Returns an error if the record is damaged, or if the
  /// flags have changed. Call at most once, before the first epoch.
  Expected<bool> rejoin();
  /// Returns true if a record was found, and its epoch has not been entered
  /// yet.
  bool isResuming() const { return record != nullptr; }

  // Only while this process is resuming.
  /// Returns the epoch in which the previous incarnation was.
  int64_t epoch() const { return record->epoch; }
  /// Returns the progress of the outputs at the record.
  OutputProgress outputs() const;
  /// Returns the number of training steps after which the epoch was divided
  /// among other replicas, if this process still reads it; otherwise 0.
  int64_t dividedAt() const;
  /// Restores metrics, reader and counts of the epoch. If `dividedAt` is not 0,
  /// the position must have the rows of the division.
  Status restore(PassReport &report);

  //===--------------------------------------------------------------------===//
  // Epochs
  //===--------------------------------------------------------------------===//

  /// Point at which a process enters an epoch.
  enum class Entry {
    /// Before its first step, or in a step.
    Steps,
    /// In a meeting of the processes between two steps, which it repeats.
    Meeting,
    /// After its last step. It has not met the others yet.
    AfterSteps,
    /// After its last step and the last meeting.
    AfterMeetings,
  };
  /// Enters an epoch whose position is set: begins or resumes the pass of the
  /// engine over `source` if there are steps to do. `allowed` and `last` are
  /// the arguments of the next `StepEngine::goAhead`. Afterwards this process
  /// is not resuming.
  Expected<Entry> enterEpoch(RoundSource source, int64_t allowed, bool last);
  /// Records that all workers have done the steps that the process has counted.
  void noteTaken();
  /// Attaches a record to the next sum, in which processes meet before a
  /// checkpoint or after the last step. `EpochPosition::stepsEnded` is set.
  void enterMeeting();
  /// Attaches a record to the next sum, that of the counts of the epoch.
  void enterEpochEnd();

private:
  void beforeRound(const PendingStep *step) override;
  void beforeRequest(int worker, const WorkerMark &mark) override;
  Entry entryOfRecord() const;
  Status beginPass(RoundSource given, int64_t allowed, bool last);
  RecoveryRecord recordHere(RecoveryRecord::Place place) const;
  void attach(RecoveryRecord::Place place, const PendingStep *step = nullptr);

  const RecoveryParts parts;
  WorkerRecovery workers;
  bool restarted = false;
  /// Set until `rejoin`.
  std::optional<RecoveryChannel::Previous> previous;
  /// Null unless this process is resuming.
  std::unique_ptr<const RecoveryRecord> record;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_RECOVERY_H
