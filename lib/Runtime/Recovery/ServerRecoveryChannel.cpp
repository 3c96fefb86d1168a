//===- ServerRecoveryChannel.cpp - Recovery records on servers ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/ServerRecoveryChannel.h"

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace pdlrt;

RecoveryChannel::~RecoveryChannel() = default;

ServerRecoveryChannel::ServerRecoveryChannel(ServerGroup &process,
                                             std::vector<ServerGroup *> workers,
                                             std::function<Status()> awaitSaved)
    : process(process), workers(std::move(workers)),
      waitForSave(std::move(awaitSaved)) {}

Expected<std::unique_ptr<ServerRecoveryChannel>>
ServerRecoveryChannel::open(ServerGroup &process,
                            std::vector<ServerGroup *> workers,
                            std::function<Status()> awaitSaved) {
  std::unique_ptr<ServerRecoveryChannel> channel(new ServerRecoveryChannel(
      process, std::move(workers), std::move(awaitSaved)));
  if (channel->workers.empty())
    channel->pending = process.earlierNote();
  else
    PDLRT_RETURN_IF_ERROR(channel->findPlace());
  return channel;
}

void ServerRecoveryChannel::attachOfWorker(int worker, const Message &record) {
  workers[worker]->leaveNote(
      encodeWorkerNote({process.requestsSent(), record}));
}

std::optional<WorkerNote>
ServerRecoveryChannel::noteOf(const ServerGroup &worker) {
  const ServerGroup::Earlier earlier = worker.earlier();
  return earlier.noted == 0 ? std::nullopt : decodeWorkerNote(earlier.note);
}

std::optional<RecoveryChannel::Previous>
ServerRecoveryChannel::previous() const {
  if (!pending)
    return std::nullopt;
  Previous found = {*pending, {}, workersWereLater};
  for (const ServerGroup *worker : workers) {
    const std::optional<WorkerNote> note = noteOf(*worker);
    found.ofWorkers.push_back(note ? note->record : Message());
  }
  return found;
}

void ServerRecoveryChannel::repeatWorker(int worker) {
  ServerGroup &group = *workers[worker];
  group.goOnWith(group.earlier().noted);
}

/// Determines whether the previous incarnation was in a step or in a sum of the
/// process, for workers that send requests themselves. Sums are only requested
/// while no worker is in a step. The first of consecutive sums has a recovery
/// record.
Status ServerRecoveryChannel::findPlace() {
  uint64_t sumsBeforeSteps = 0;
  std::optional<Message> ofWorker;
  for (ServerGroup *worker : workers) {
    const std::optional<WorkerNote> note = noteOf(*worker);
    if (note && (!ofWorker || note->sums > sumsBeforeSteps)) {
      sumsBeforeSteps = note->sums;
      ofWorker = note->record;
    }
    worker->goOnWith(worker->earlier().firstMissing);
  }
  const ServerGroup::Earlier sums = process.earlier();
  workersWereLater = ofWorker && sumsBeforeSteps >= sums.noted;
  if (workersWereLater) {
    process.goOnWith(sumsBeforeSteps + 1);
    pending = ofWorker;
    return {};
  }
  if (sums.firstMissing > 1 || process.wasSentBefore()) {
    // Without a recovery record, a restart can only begin from the first
    // request. This is possible as long as servers store the responses.
    constexpr uint64_t lastWithoutNote = 2;
    if (sums.noted == 0 && sums.firstMissing > lastWithoutNote + 1)
      return Status::failedPrecondition(
          "the previous incarnation of this trainer left no recovery record: "
          "end all trainers and servers, and start them from the last "
          "checkpoint");
    pending = sums.note;
  }
  process.goOnWith(std::max<uint64_t>(sums.noted, 1));
  return {};
}
