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
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/RecoveryParticipant.h"
#include "pdlrt/Recovery/RecoveryChannel.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace pdlrt {

/// Recovery of workers that step independently. Each worker attaches a recovery
/// record to each of its requests. A restart of the process finds each worker
/// at a step of its own. The process resumes its counts from the last step of
/// all workers that it had counted; later progress is in the records of the
/// workers. Thread-safe as the functions say.
class WorkerRecovery {
public:
  /// `parts` must outlive the object.
  explicit WorkerRecovery(const RecoveryParts &parts);

  /// Returns true if workers of this training leave records.
  bool isUsed() const { return channel != nullptr; }

  /// Records the position of the reader, which is at the start of the next
  /// round. Call on one thread at a time.
  void noteRoundBegin();
  /// Sets the record of this process, whose workers have all done the steps
  /// that it has counted.
  void noteTaken(RecoveryRecord process);
  /// Attaches a record to the next request of that worker. Each worker may call
  /// it on its own thread.
  void attach(int worker, const WorkerMark &mark);

  /// Reads from `previous` the records of workers for the epoch of `process`,
  /// the record of the process. If the records of workers are
  /// later, `process` is replaced by the counts in them.
  Status take(const RecoveryChannel::Previous &previous,
              RecoveryRecord &process);
  /// Returns true if there are records that are not restored yet.
  bool isRestoring() const { return !records.empty(); }
  /// Restores metrics and readers for the slowest worker. `process` is as
  /// `take` left it.
  Status restore(const RecoveryRecord &process, PassReport &report);
  /// Returns where the engine resumes the workers, and forgets their records.
  /// `taken` is the number of counted steps of the pass. The caller sets the
  /// steps that are allowed.
  WorkersAt resume(int64_t taken);

private:
  /// Start of a round.
  struct RoundBegin {
    std::vector<DataPosition> positions;
    int64_t badRows = 0;
  };

  const RecoveryParts &parts;
  /// Null if workers of this training leave no records.
  RecoveryChannel *const channel;
  /// Records of the workers in this epoch, until they are restored.
  std::vector<std::optional<WorkerRecoveryRecord>> records;
  /// Guards the starts of recent rounds, by number modulo the array's size, and
  /// the members after it. Workers read them on their own threads.
  std::mutex mutex;
  std::array<RoundBegin, 16> roundBegins;
  /// Start of the pass, with the metrics of all replicas if it is not the start
  /// of an epoch.
  RoundBegin passBegin;
  MetricSums passMetrics;
  RecoveryRecord lastTaken;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_WORKERRECOVERY_H
