//===- SaveService.cpp - A server's part of checkpoints -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/SaveService.h"

#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Core/BackgroundTask.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Files/Store.h"

#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <utility>

using namespace pdlrt;

struct SaveService::Saving {
  explicit Saving(const SaveRequest &request, SavedRows rows)
      : folder(request.path), rows(rows),
        writer(CheckpointWriter::into(request.path)) {}

  const std::string folder;
  const SavedRows rows;
  CheckpointWriter writer;
  CheckpointManifest manifest;
  std::unique_ptr<StateSnapshot> snapshot;
  Stopwatch stopwatch;
  /// Seconds in which steps had to wait.
  double paused = 0;
  /// Valid after the task has ended.
  Message response;
  bool isWritten = false;
  /// Declared last, so that it ends before the members that it uses.
  std::unique_ptr<BackgroundTask> task;
};

SaveService::SaveService(Model &model, Scheduler &scheduler, std::string name,
                         int32_t rank, SaveFolder allowed)
    : model(model), scheduler(scheduler), name(std::move(name)), rank(rank),
      allowed(std::move(allowed)) {}

SaveService::~SaveService() = default;

Status SaveService::check(const Envelope &request,
                          const Message &payload) const {
  // The payload may also contain the name of the previous save.
  constexpr size_t longestPath = 4096;
  // A plan contains the names of all data files.
  constexpr size_t maxPlanBytes = size_t(1) << 28;
  if (request.trainer != 0)
    return Status::failedPrecondition(
        "checkpoints are written for trainer 0 alone");
  if (payload.size() == 0 || payload.size() > 2 * longestPath + maxPlanBytes)
    return Status::dataLoss("a request to save names no folder");
  const SaveRequest save = decodeSaveRequest(payload);
  if (payload.size() - save.plan.size() > 2 * longestPath)
    return Status::dataLoss("a request to save names no folder");
  // These two kinds write files, so stricter rules hold for their folder.
  const bool isWritten =
      save.kind == SaveKind::Begin || save.kind == SaveKind::Stopping;
  return isWritten ? allowed.allowsSave(save.path) : allowed.allows(save.path);
}

Message SaveService::handle(const Message &payload, int64_t requests) {
  const SaveRequest request = decodeSaveRequest(payload);
  switch (request.kind) {
  case SaveKind::Probe:
    if (const Status status = takePlan(request); !status.ok())
      return Message::ofString("-" + name + ": " + status.message());
    return respondToProbe(request.path, name);
  case SaveKind::Begin:
    noteBegin(request.path, requests);
    return beginSave(request);
  case SaveKind::Poll:
    return saveProgress(request.path);
  case SaveKind::Stopping:
    noteBegin(request.path, requests);
    return save(request);
  }
  return Message();
}

void SaveService::noteBegin(const std::string &folder, int64_t requests) {
  const std::optional<FileIdentity> identity = FileIdentity::of(folder);
  const MutexLock lock(begunMutex);
  begun = {begun.number + 1, folder, identity, requests};
}

BegunSave SaveService::lastOfTrainers() const {
  const MutexLock lock(begunMutex);
  return begun;
}

Message SaveService::savePart(const std::string &folder) {
  Status status = allowed.allowsSave(folder);
  return status.ok() ? save({SaveKind::Stopping, folder})
                     : encodeSaved(std::move(status).withContext(name));
}

Status SaveService::takePlan(const SaveRequest &probe) {
  if (probe.plan.empty())
    return {};
  Expected<SavePlan> plan = SavePlan::decode(probe.plan);
  if (!plan)
    return plan.status();
  plans = {std::filesystem::path(probe.path).parent_path(), std::move(*plan)};
  return {};
}

/// Returns the file name of the parameters of rank `rank`, such as
/// "dense-0.safetensors".
static std::string denseFileOf(int32_t rank) {
  return fmt::format("dense-{}.safetensors", rank);
}

/// Returns an error if the server `who` does not see the folder.
static Status checkFolder(const std::string &who, const std::string &folder) {
  std::error_code error;
  // A store has no folders that could be missing.
  if (isInObjectStore(folder) || std::filesystem::is_directory(folder, error))
    return {};
  return Status::failedPrecondition(
      who + " does not see the folder " + folder +
      "; give a folder that all processes of the job share");
}

/// Returns the result of `write`. If `write` throws, returns a response with
/// the error.
template <typename Write>
static Message responseOf(const std::string &who, Write write) {
  try {
    return write();
  } catch (const std::bad_alloc &) {
    return encodeSaved(Status::outOfMemory(who + " is out of memory for the "
                                                 "parts of a checkpoint"));
  } catch (const std::exception &exception) {
    return encodeSaved(Status::internal(who + ": " + exception.what()));
  }
}

/// Returns which rows to save. A request for changed rows gets a complete base
/// if this server has not written the save `request.since`. Forgets the last
/// save: until the new one is written, the changes in rows belong to no save.
SavedRows SaveService::rowsOf(const SaveRequest &request) {
  const bool isKnown =
      !savedAs.empty() && std::exchange(savedAs, {}) == request.since;
  // The servers may not have written that save: a previous incarnation of
  // trainer 0 may have requested one that was never completed.
  return request.rows == SavedRows::Changed && !isKnown ? SavedRows::Base
                                                        : request.rows;
}

/// Waits for a save in progress.
void SaveService::endSaving() {
  if (!saving)
    return;
  (void)saving->task->wait();
  if (saving->isWritten && saving->rows != SavedRows::All)
    savedAs = saving->folder;
  saving.reset();
}

/// Prepares a save into a folder, then returns the result of `write`.
template <typename Write>
Message SaveService::saveInto(const std::string &folder, Write write) {
  const TraceSpan span("checkpoint");
  const std::string who = name;
  // A model supports only one snapshot at a time. Also, the files of a save in
  // progress must not be overwritten.
  endSaving();
  return responseOf(who, [&] {
    Status status = checkFolder(who, folder);
    return status.ok() ? write(who) : encodeSaved(std::move(status));
  });
}

Message SaveService::save(const SaveRequest &request) {
  return saveInto(request.path, [&](const std::string &who) {
    CheckpointWriter writer = CheckpointWriter::into(request.path);
    const SavedRows rows = rowsOf(request);
    Stopwatch stopwatch;
    Status status =
        saveParts(model, denseFileOf(rank), writer, &scheduler, {}, rows);
    const double seconds = stopwatch.lap();
    metrics.seconds.observe(seconds);
    metrics.pause.observe(seconds);
    metrics.count(status);
    if (!status.ok())
      return encodeSaved(std::move(status).withContext(who));
    CheckpointManifest manifest;
    describeModel(model, manifest);
    manifest.parts = writer.addedParts();
    if (rows != SavedRows::All)
      savedAs = request.path;
    return encodeSaved(std::move(manifest));
  });
}

Message SaveService::beginSave(const SaveRequest &request) {
  return saveInto(request.path, [&](const std::string &who) {
    auto begun = std::make_unique<Saving>(request, rowsOf(request));
    describeModel(model, begun->manifest);
    auto snapshot = StateSnapshot::take(model, denseFileOf(rank), begun->writer,
                                        {}, begun->rows);
    begun->paused = begun->stopwatch.lap();
    metrics.pause.observe(begun->paused);
    if (!snapshot) {
      metrics.count(snapshot.status());
      return encodeSaved(std::move(snapshot).status().withContext(who));
    }
    begun->snapshot = std::move(*snapshot);
    begun->task = std::make_unique<BackgroundTask>(
        "save", [this, who, own = begun.get()]() -> Status {
          own->response = responseOf(who, [&] {
            // However the save ends, the snapshot is released.
            std::unique_ptr<StateSnapshot> snapshot = std::move(own->snapshot);
            Status status = snapshot->write(own->writer);
            snapshot.reset();
            // The stopwatch was started at the end of the pause.
            metrics.seconds.observe(own->paused + own->stopwatch.lap());
            metrics.count(status);
            if (!status.ok())
              return encodeSaved(std::move(status).withContext(who));
            own->isWritten = true;
            own->manifest.parts = own->writer.addedParts();
            return encodeSaved(std::move(own->manifest));
          });
          return {};
        });
    saving = std::move(begun);
    return savingResponse();
  });
}

Message SaveService::saveProgress(const std::string &folder) const {
  if (!saving || saving->folder != folder)
    return encodeSaved(Status::failedPrecondition(
        fmt::format("{} has begun no save into {}", name, folder)));
  return saving->task->isDone() ? saving->response : savingResponse();
}
