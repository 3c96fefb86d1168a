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

/// Keeps the recovery records of a process whose job waits for its restart. The
/// records are opaque here (docs/RationaleRecovery.md). Only the thread of the
/// job may use it, except where noted.
class RecoveryChannel {
public:
  virtual ~RecoveryChannel();

  /// Attaches a record to the next `Job::sum`, or to the next round of a step.
  virtual void attach(const Message &record) = 0;
  /// Attaches a record to the next request of a worker that sends by itself.
  /// The channel orders such requests and the sums of the process: a worker's
  /// request comes after all sums that were requested before it. Each worker
  /// may call this on its own thread, while no sum is in progress.
  virtual void attachOfWorker(int worker, const Message &record) = 0;

  /// Records that the previous incarnation of the process left.
  struct Previous {
    /// Record attached to the pending call, to which servers will repeat their
    /// response. Empty if the previous incarnation died before its first
    /// record: then this process repeats everything.
    Message pending;
    /// Record of the last request of each worker that all servers have; empty
    /// if there is none. No elements if workers do not send by themselves.
    std::vector<Message> ofWorkers;
    /// True if `pending` is one of `ofWorkers`: workers had sent requests after
    /// the last sum of the process.
    bool workersWereLater = false;
  };
  /// Returns nothing if there was no previous incarnation.
  virtual std::optional<Previous> previous() const = 0;

  /// Returns true if the previous incarnation has started the pending call. It
  /// had then completed everything before it.
  virtual bool isRepeating() const = 0;
  /// Sets the next request of a worker to the one to which its record is
  /// attached.
  virtual void repeatWorker(int worker) = 0;

  /// Blocks until a save is complete, because a restart must find it complete.
  /// Collective; call after a save, or if the previous incarnation has made it.
  virtual Status awaitSaved() = 0;
};

} // namespace pdlrt

#endif // PDLRT_RECOVERY_RECOVERYCHANNEL_H
