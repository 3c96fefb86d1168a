//===- ServerRecoveryChannel.h - Recovery records on servers ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RECOVERY_SERVERRECOVERYCHANNEL_H
#define LIB_RUNTIME_RECOVERY_SERVERRECOVERYCHANNEL_H

#include "Recovery/WorkerNote.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Recovery/RecoveryChannel.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace pdlrt {

/// Keeps recovery records as notes on requests to the servers of a job.
class ServerRecoveryChannel final : public RecoveryChannel {
public:
  /// Creates the channel, and decides from which request each sender continues.
  /// `process`: sends the requests of the whole process. `workers`: send the
  /// requests of workers; empty if the mode does not let workers send. All
  /// groups must have joined: with `EarlierStart::Ask` if there are workers,
  /// otherwise with `EarlierStart::GoOn`. They must outlive the channel.
  /// `awaitSaved`: blocks until a save is complete.
  static Expected<std::unique_ptr<ServerRecoveryChannel>>
  open(ServerGroup &process, std::vector<ServerGroup *> workers,
       std::function<Status()> awaitSaved);

  void attach(const Message &record) override { process.leaveNote(record); }
  void attachOfWorker(int worker, const Message &record) override;
  std::optional<Previous> previous() const override;
  bool isRepeating() const override { return process.wasSentBefore(); }
  void repeatWorker(int worker) override;
  Status awaitSaved() override { return waitForSave(); }

private:
  ServerRecoveryChannel(ServerGroup &process,
                        std::vector<ServerGroup *> workers,
                        std::function<Status()> awaitSaved);
  static std::optional<WorkerNote> noteOf(const ServerGroup &worker);
  Status findPlace();

  ServerGroup &process;
  const std::vector<ServerGroup *> workers;
  const std::function<Status()> waitForSave;
  /// Members of the result of `previous`.
  std::optional<Message> pending;
  bool workersWereLater = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_SERVERRECOVERYCHANNEL_H
