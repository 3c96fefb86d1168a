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

/// Lets a restarted trainer continue within a round. Attaches recovery records
/// to the requests of this process. After a restart, continues from the last
/// record of the previous incarnation (docs/RationaleRecovery.md). If no other
/// process waits for restarts (`RecoveryParts::channel` is null), attaches
/// nothing. Not thread-safe.
class Recovery final : RequestObserver {
public:
  explicit Recovery(RecoveryParts given);
  Recovery(const Recovery &) = delete;
  Recovery &operator=(const Recovery &) = delete;

  //===--------------------------------------------------------------------===//
  // Restart
  //===--------------------------------------------------------------------===//

  /// Returns true if this process replaces a previous incarnation. There may be
  /// no record, if that process died early.
  bool isRestart() const { return restarted; }
  /// Restores the counts of the training from the last record of the previous
  /// incarnation. If there is no record, returns false, and this process begins
  /// like a new one. Returns an error if the record is damaged, or if the flags
  /// of the process have changed. Call at most once, before the first epoch.
  Expected<bool> rejoin();
  /// Returns true if `rejoin` has found a record and `enterEpoch` was not
  /// called since.
  bool isResuming() const { return record != nullptr; }

  // Only while this process is resuming.
  /// Returns the epoch in which the previous incarnation was.
  int64_t epoch() const { return record->epoch; }
  /// Returns the progress of the outputs at the record.
  OutputProgress outputs() const;
  /// If the running epoch was divided among other replicas, returns the number
  /// of training steps at which it was. Otherwise, and if this process has no
  /// steps left in the epoch, returns 0.
  int64_t dividedAt() const;
  /// Restores the metrics, the reader and the counts of the epoch. If
  /// `dividedAt` is not 0, the caller must have set `EpochPosition::rest`
  /// before.
  Status restore(PassReport &report);

  //===--------------------------------------------------------------------===//
  // Epochs
  //===--------------------------------------------------------------------===//

  /// Point at which a process enters an epoch.
  enum class Entry {
    /// Before the first step of this process, or in a step.
    Steps,
    /// In a meeting of the processes between two steps. The process repeats the
    /// meeting.
    Meeting,
    /// After the last step of this process, before it has met the other
    /// processes.
    AfterSteps,
    /// After the last step of this process and the last meeting.
    AfterMeetings,
  };
  /// Enters an epoch whose position is set, and returns at which point. If
  /// there are steps to do, begins or resumes the pass of the engine over
  /// `source`. `allowed` and `last`: arguments of the next call of
  /// `StepEngine::goAhead`. Afterwards `isResuming` is false.
  Expected<Entry> enterEpoch(RoundSource source, int64_t allowed, bool last);
  /// Records that all workers have done the steps that this process has
  /// counted.
  void noteTaken();
  /// Attaches a record, if one is needed, to the next sum, in which processes
  /// meet before a checkpoint or after the last step.
  /// `EpochPosition::stepsEnded` must be set before.
  void enterMeeting();
  /// Attaches a record to the next sum, which adds up the counts of the epoch.
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
