//===- RecoveryChannel.h - Recovery records of a process --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_RECOVERY_RECOVERYCHANNEL_H
#define PDLRT_RECOVERY_RECOVERYCHANNEL_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Message.h"

#include <optional>
#include <vector>

namespace pdlrt {

/// Stores the recovery records of this process, so that a restarted process
/// gets them back. Used if the job waits for the restart of a process that has
/// died. This class does not interpret records (docs/RationaleRecovery.md).
/// Only the thread of the job may call its functions, except where noted.
class RecoveryChannel {
public:
  virtual ~RecoveryChannel();

  /// Attaches `record` to the next request of all workers together: a
  /// `Job::sum`, or the round of a step.
  virtual void attach(const Message &record) = 0;
  /// Attaches `record` to the next request of a worker that sends
  /// independently. In the order of records, a request of a worker comes after
  /// all calls of `Job::sum` that were made before it. Each worker may call
  /// this on its own thread, while no `Job::sum` is in progress.
  virtual void attachOfWorker(int worker, const Message &record) = 0;

  /// Records that the previous incarnation of the process has attached to its
  /// last requests.
  struct Previous {
    /// Record of the pending call: the last `Job::sum` or round that the
    /// previous incarnation has started. Servers will repeat their response to
    /// it. Empty if the previous incarnation died before its first record; then
    /// this process repeats everything.
    Message pending;
    /// Records of workers that send independently, by worker: the record of its
    /// last request that all servers have; empty if there is no such request.
    /// The vector is empty if workers do not send independently.
    std::vector<Message> ofWorkers;
    /// True if workers have sent requests after the last `Job::sum` of the
    /// process. `pending` is then one of `ofWorkers`.
    bool workersWereLater = false;
  };
  /// Returns the records of the previous incarnation, or nullopt if there was
  /// none.
  virtual std::optional<Previous> previous() const = 0;

  /// Returns true until this process has repeated the pending call, which the
  /// previous incarnation has started. All earlier calls were completed.
  virtual bool isRepeating() const = 0;
  /// Makes the next request of a worker a repetition of the request to which
  /// its record in `ofWorkers` was attached.
  virtual void repeatWorker(int worker) = 0;

  /// Blocks until a save is complete, so that a restart after this call can
  /// rely on it. All processes must call it after a save, also if the previous
  /// incarnation of the process has made the save.
  virtual Status awaitSaved() = 0;
};

} // namespace pdlrt

#endif // PDLRT_RECOVERY_RECOVERYCHANNEL_H
