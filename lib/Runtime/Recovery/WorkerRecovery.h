//===- WorkerRecovery.h - Recovery of independent workers -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RECOVERY_WORKERRECOVERY_H
#define LIB_RUNTIME_RECOVERY_WORKERRECOVERY_H

#include "Recovery/RecoveryParts.h"
#include "Recovery/RecoveryRecord.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/RecoveryParticipant.h"
#include "pdlrt/Recovery/RecoveryChannel.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace pdlrt {

/// Recovery of workers that step independently. Each worker attaches a recovery
/// record to each of its requests. After a restart, each worker continues at a
/// step of its own. The counts of the process are those of the last step that
/// all workers had done and the process had counted. Each function says which
/// threads may call it.
class WorkerRecovery {
public:
  /// `parts` must outlive the object.
  explicit WorkerRecovery(const RecoveryParts &parts);

  /// Returns true if workers of this training attach recovery records.
  bool isUsed() const { return channel != nullptr; }

  /// Records the position of the reader at the start of the next round. Only
  /// one thread may call this at a time.
  void noteRoundBegin();
  /// Sets the record of the process. All workers must have done the steps that
  /// it counts.
  void noteTaken(RecoveryRecord process);
  /// Attaches a record to the next request of a worker. Each worker may call
  /// this on its own thread.
  void attach(int worker, const WorkerMark &mark);

  /// Reads the workers' records from `previous`, and keeps those of the epoch
  /// of `process`, which is the record of the process. If the records of
  /// workers are later, `process` is first replaced by the latest process
  /// record that they contain.
  Status take(const RecoveryChannel::Previous &previous,
              RecoveryRecord &process);
  /// Returns true if there are records that are not restored yet.
  bool isRestoring() const { return !records.empty(); }
  /// Restores the metrics of all workers, and the reader for the slowest one.
  /// Call after `take`, which has set `process`.
  Status restore(const RecoveryRecord &process, PassReport &report);
  /// Returns where the engine resumes each worker, and forgets the records.
  /// `taken`: number of steps of the pass that are counted. The caller sets the
  /// number of allowed steps in the result.
  WorkersAt resume(int64_t taken);

private:
  /// Start of a round.
  struct RoundBegin {
    std::vector<DataPosition> positions;
    int64_t badRows = 0;
  };

  const RecoveryParts &parts;
  /// Null if workers of this training attach no recovery records.
  RecoveryChannel *const channel;
  /// Records of the workers in this epoch, until they are restored.
  std::vector<std::optional<WorkerRecoveryRecord>> records;
  /// Guards the members below, which workers read on their own threads.
  Mutex mutex;
  /// Starts of recent rounds: round r is at index r modulo the size.
  std::array<RoundBegin, 16> roundBegins PDLRT_GUARDED_BY(mutex);
  /// Start of the pass. If it is not the start of an epoch, `passMetrics` has
  /// the metrics of all replicas at that point.
  RoundBegin passBegin PDLRT_GUARDED_BY(mutex);
  MetricSums passMetrics PDLRT_GUARDED_BY(mutex);
  RecoveryRecord lastTaken PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_WORKERRECOVERY_H
