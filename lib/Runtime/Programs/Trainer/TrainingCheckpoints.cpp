//===- TrainingCheckpoints.cpp - Saving and resuming a training -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/TrainingCheckpoints.h"

#include "Checkpoint/CheckpointNames.h"
#include "Data/InputFile.h"
#include "Data/KafkaAddress.h"
#include "Programs/Trainer/TrainingSummary.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"
#include "pdlrt/Recovery/RecoveryChannel.h"

#include <filesystem>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;
namespace fs = std::filesystem;

static std::string boundText(const RowRange::Bound &bound) {
  return bound.isPercent ? fmt::format("{}%", bound.percent)
                         : std::to_string(bound.row);
}

// The text has the name and the size of each file, but not its folder, so that
// a file may be moved to another folder before a resume.
std::string pdlrt::filesText(const std::vector<std::string> &paths) {
  std::string files;
  for (const std::string &file : paths) {
    if (isKafkaAddress(file)) {
      files += (files.empty() ? "" : ", ") + kafkaIdentity(file);
      continue;
    }
    if (isStandardInput(file)) {
      files += (files.empty() ? "" : ", ") + inputName(file);
      continue;
    }
    std::error_code error;
    const auto stored = isInObjectStore(file)
                            ? pinnedInfo(file)
                            : Expected<StoredFileInfo>(StoredFileInfo());
    const std::uintmax_t size = isInObjectStore(file)
                                    ? (stored ? stored->bytes : 0)
                                    : fs::file_size(file, error);
    const bool isThere =
        isInObjectStore(file) ? stored.ok() : fs::exists(file, error);
    const std::string bytes =
        isThere ? fmt::format("{} bytes", size == UINTMAX_MAX ? 0 : size)
                : "which is not there";
    files += fmt::format("{}{} ({})", files.empty() ? "" : ", ",
                         fs::path(file).filename().string(), bytes);
  }
  return files;
}

std::string pdlrt::rowsText(const RowRange &rows) {
  return boundText(rows.begin) + ":" + boundText(rows.end);
}

std::vector<std::pair<std::string, std::string>>
pdlrt::dataSettings(const SessionOptions &options) {
  const DataOptions &data = options.data;
  std::string columns;
  for (const std::string &entry : data.columns)
    columns += (columns.empty() ? "" : ",") + entry;
  // Stored with the delimiter, because old checkpoints have no separate entry.
  const std::string quote = !data.quote ? ""
                            : *data.quote
                                ? fmt::format(" --quote '{}'", *data.quote)
                                : " --quote none";
  const std::string format =
      (data.format.empty() ? "" : " --format " + data.format) +
      (data.pipe.empty() ? "" : " --data-pipe '" + data.pipe + "'");
  return {
      {"--data", data.filesInTurn ? inTurnText(data.files.size())
                                  : filesText(data.files)},
      {"--rows", rowsText(data.rows)},
      {"--delimiter", (data.delimiter ? fmt::format("'{}'", data.delimiter)
                                      : "by the file's name") +
                          quote + format},
      {"--header", data.header ? "yes" : "no"},
      {"--columns", columns.empty() ? "by the model" : columns},
      {"--batch-size", std::to_string(data.batchSize)},
      // One entry, because old checkpoints have no order of files.
      {"--shuffle-window", std::to_string(data.shuffleWindow) +
                               (data.shuffleFiles ? " --shuffle-files" : "")},
      {"--replicas", fmt::format("{}x{}", options.groups, options.workers)}};
}

Expected<std::unique_ptr<TrainingCheckpoints>>
TrainingCheckpoints::open(const pdl_descriptor &descriptor,
                          const SessionOptions &options, bool first,
                          Scheduler &scheduler) {
  std::unique_ptr<TrainingCheckpoints> checkpoints(
      new TrainingCheckpoints(descriptor, options));
  checkpoints->settings = dataSettings(options);
  if (first) {
    // If trainers may rejoin, the previous incarnation of this trainer may
    // still hold the lock of the folder. Servers decide which process is this
    // trainer; until then the lock is not needed.
    const bool mayWait = options.distributed && options.distributed->mayRejoin;
    auto opened = CheckpointFolder::openIfFree(options.checkpoint);
    if (opened && !*opened && !mayWait)
      return CheckpointFolder::isInUse(options.checkpoint);
    if (!opened)
      return opened.status();
    if (*opened)
      checkpoints->folder.emplace(std::move(**opened));
  }
  if (options.resume)
    PDLRT_RETURN_IF_ERROR(checkpoints->resume(scheduler));
  return checkpoints;
}

Status TrainingCheckpoints::takeFolder(const Job &job) {
  if (job.rank() != 0)
    return {};
  if (folder)
    return job.id() == 0 ? Status() : folder->note(job.id());
  Expected<CheckpointFolder> taken =
      CheckpointFolder::takeOver(options.checkpoint, job.id());
  if (!taken)
    return taken.status();
  folder.emplace(std::move(*taken));
  return {};
}

Status TrainingCheckpoints::checkFolder() const {
  if (options.resume || !folder)
    return {};
  const auto all = listCheckpoints(options.checkpoint);
  if (all.empty())
    return {};
  return Status::failedPrecondition(fmt::format(
      "{}: there are checkpoints of up to {} steps already; give --resume to "
      "go on from them, or name another folder",
      options.checkpoint, all.front()));
}

Status TrainingCheckpoints::checkData() const {
  const auto now = dataSettings(options);
  for (size_t i = 0; i < settings.size(); ++i)
    if (now[i] != settings[i])
      return Status::failedPrecondition(fmt::format(
          "the data have changed since this process was started, from {} {} to "
          "{}: start again, and do not change files that are read",
          settings[i].first, settings[i].second, now[i].second));
  return {};
}

/// Returns which files of a checkpoint this process verifies. Servers read and
/// verify the state that only they hold.
CheckpointCheck TrainingCheckpoints::checkOfResume() const {
  return options.distributed && !modeOf(descriptor).trainersApply
             ? CheckpointCheck::Progress
             : CheckpointCheck::Everything;
}

Status TrainingCheckpoints::resume(Scheduler &scheduler) {
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> newest = findNewestCheckpoint(
      options.checkpoint, refused, checkOfResume(), &scheduler);
  if (!newest)
    return newest.status();
  for (const std::string &message : refused)
    logWarning("passed over " + message);
  if (!*newest) {
    logInfo("no checkpoint in " + options.checkpoint + " yet: training begins");
    return {};
  }
  return take(std::move(**newest));
}

Status TrainingCheckpoints::goBackTo(int64_t steps, Scheduler &scheduler) {
  if (!resumedFrom || resumedFrom->manifest().progress.steps <= steps)
    return {};
  const std::string path = CheckpointFolder::nameIn(options.checkpoint, steps);
  logWarning(
      fmt::format("passed over {}, which servers have found damaged; the "
                  "training goes on from {}",
                  resumedFrom->path(), path));
  Expected<Checkpoint> earlier =
      Checkpoint::open(path, checkOfResume(), &scheduler);
  return earlier ? take(std::move(*earlier)) : earlier.status();
}

/// Takes the checkpoint to resume from. Returns an error unless it belongs to
/// this model and was written with the same flags. Other numerics only cause a
/// warning.
Status TrainingCheckpoints::take(Checkpoint checkpoint) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  OldLayout old = {.accepted = options.acceptOldLayout, .unchecked = {}};
  PDLRT_RETURN_IF_ERROR(
      checkSameModel(descriptor, checkpoint, CheckpointUse::Training, &old));
  if (options.seed && *options.seed != manifest.seed)
    return Status::failedPrecondition(fmt::format(
        "{}: was trained with --seed {}, but this run has {}; leave the flag "
        "out, or train into another folder",
        checkpoint.path(), manifest.seed, *options.seed));
  PDLRT_RETURN_IF_ERROR(checkSettings(checkpoint, settings));
  const char *numerics =
      descriptor.numerics == PDL_NUMERICS_STRICT ? "strict" : "fast";
  if (manifest.numerics != numerics)
    logWarning(fmt::format("{} was trained with numerics {}, this program has "
                           "{}: the last bits will differ",
                           checkpoint.path(), manifest.numerics, numerics));
  previous = Previous{checkpoint.link(), saveNameOf(checkpoint),
                      int64_t(checkpoint.earlier().size())};
  resumedFrom = std::move(checkpoint);
  return {};
}

CheckpointManifest TrainingCheckpoints::plan() const {
  CheckpointManifest common;
  common.settings = settings;
  return common;
}

int64_t TrainingCheckpoints::stepsUntilDue(int64_t steps) const {
  if (!options.checkpointSteps)
    return INT64_MAX;
  return *options.checkpointSteps - steps % *options.checkpointSteps;
}

/// Data of a save that runs while training continues.
struct TrainingCheckpoints::Save {
  CheckpointWriter writer;
  CheckpointManifest manifest;
  std::unique_ptr<RestOfSave> rest;
  std::string saveName;
  int64_t deltas = 0;
  /// State of an unfinished epoch, which must still be written.
  std::optional<RunningEpoch> running;
  /// True if the checkpoint is the best one so far.
  bool isBest = false;
  /// Measures the time from the start of the save.
  Stopwatch stopwatch;
};

/// Adds the state of all replicas in a running epoch.
Status TrainingCheckpoints::addRunning(const RunningEpoch &running,
                                       CheckpointWriter &writer) const {
  return saveRunningEpoch(descriptor, running, options.groups * options.workers,
                          writer);
}

/// Returns the scope of the save into the folder `name`.
SaveScope TrainingCheckpoints::scopeOf(const std::string &name) const {
  if (options.checkpointDeltas == 0)
    return {};
  // A delta needs the previous checkpoint. So a complete save is made if that
  // checkpoint was deleted or if this save replaces it.
  uint64_t digest = 0;
  if (!previous || previous->deltas >= options.checkpointDeltas ||
      fs::path(name).filename() == previous->link.name ||
      !readManifest(absolutePlace(root) + "/" + previous->link.name + "/" +
                        manifestName,
                    &digest) ||
      digest != previous->link.digest)
    return {SavedRows::Base};
  return {SavedRows::Changed, previous->saveName};
}

/// Completes a save.
Status TrainingCheckpoints::complete(Save &save) {
  if (save.rest)
    PDLRT_RETURN_IF_ERROR(save.rest->finish(save.writer, save.manifest));
  // Threads that wait for free rows may continue now.
  save.rest.reset();
  const int64_t steps = save.manifest.progress.steps;
  uint64_t digest = 0;
  PDLRT_RETURN_IF_ERROR(
      commitTraining(descriptor, save.running ? &*save.running : nullptr,
                     options.groups * options.workers, *folder, save.writer,
                     std::move(save.manifest), &digest));
  previous = Previous{{fs::path(folder->nameOf(steps)).filename(), digest},
                      save.saveName,
                      save.deltas};
  metrics.seconds.observe(save.stopwatch.lap());
  if (save.isBest)
    mark(steps);
  // The checkpoint is complete, so an error here is only a warning.
  if (const Status removed = folder->removeOld(steps, options.checkpointKeep);
      !removed.ok())
    logWarning(removed.message());
  return {};
}

Status TrainingCheckpoints::save(Job &job, Model &model,
                                 const RunningEpoch &running,
                                 TrainingProgress progress) {
  const TraceSpan span("checkpoint");
  Stopwatch stopwatch;
  PDLRT_RETURN_IF_ERROR(finish());
  latest = {progress.steps, progress.epoch};
  // The previous incarnation of this process has made this save. Its result is
  // not known, so the next save must not be a delta of it.
  RecoveryChannel *const recovery = job.recovery();
  if (recovery && recovery->isRepeating()) {
    previous.reset();
    return recovery->awaitSaved();
  }
  Status status = begin(job, model, running, std::move(progress));
  metrics.pause.observe(stopwatch.lap());
  if (!status.ok())
    metrics.count(status);
  if (ongoing)
    return status;
  // If trainers may restart, all processes meet here after each save, whether
  // it has failed or not.
  Status met = recovery ? recovery->awaitSaved() : Status();
  return status.ok() ? std::move(met) : std::move(status);
}

/// Starts a save. If it cannot run in the background, completes it.
Status TrainingCheckpoints::begin(Job &job, Model &model,
                                  const RunningEpoch &running,
                                  TrainingProgress progress) {
  const std::string path = CheckpointFolder::nameIn(root, progress.steps);
  const SaveScope scope = scopeOf(path);
  auto save = std::make_shared<Save>(CheckpointWriter(path));
  save->isBest = isBest(progress.steps);
  save->manifest.settings = settings;
  if (running.rest)
    noteDivision(running.rest->steps, save->manifest);
  save->manifest.progress = std::move(progress);
  if (scope.rows == SavedRows::Changed) {
    save->manifest.after = previous->link;
    save->deltas = previous->deltas + 1;
  }
  previous.reset();
  auto rest = job.beginSave(model, save->writer, save->manifest, scope);
  if (!rest)
    return rest.status();
  if (!folder)
    return {};
  Expected<std::string> saveName = saveNameOf(save->writer);
  if (!saveName)
    return saveName.status();
  save->saveName = std::move(*saveName);
  save->rest = std::move(*rest);
  const bool isRunning = !save->manifest.progress.positions.empty();
  // Samples of group metrics may be large and are not copied.
  if (isRunning && !running.groups.empty())
    PDLRT_RETURN_IF_ERROR(addRunning(running, save->writer));
  else if (isRunning)
    save->running = running;
  if (!save->rest) {
    PDLRT_RETURN_IF_ERROR(complete(*save));
    noteWhole();
    return {};
  }
  ongoing = std::make_unique<BackgroundTask>(
      "save", [this, save] { return complete(*save); });
  return {};
}

/// Marks a complete checkpoint as the best one. A failure is only a warning.
void TrainingCheckpoints::mark(int64_t steps) const {
  if (!folder)
    return;
  if (const Status marked = folder->markBest(steps); !marked.ok())
    logWarning(marked.message());
}

void TrainingCheckpoints::keepBest(int64_t steps) {
  bestSteps = steps;
  // A save of this step may have failed. Then a repeated save marks it.
  if (whole == steps)
    mark(steps);
}

void TrainingCheckpoints::remarkBest(int64_t steps) const {
  if (steps > 0 && readManifest(pathOf(root, steps) + "/" + manifestName))
    mark(steps);
}

void TrainingCheckpoints::noteWhole() {
  metrics.count({});
  whole = latest.first;
  summarizeCheckpoint(pathOf(root, whole), whole);
}

Status TrainingCheckpoints::check() {
  return ongoing && ongoing->isDone() ? finish() : Status();
}

Status TrainingCheckpoints::finish() {
  if (!ongoing)
    return {};
  const TraceSpan span("wait for the save");
  Status status = std::exchange(ongoing, nullptr)->wait();
  if (status.ok())
    noteWhole();
  else
    metrics.count(status);
  return status;
}

Status TrainingCheckpoints::goElsewhere() {
  previous.reset();
  root = options.emergencyCheckpoint;
  if (!folder)
    return {};
  Expected<CheckpointFolder> other = CheckpointFolder::open(root);
  if (!other)
    return other.status();
  folder.emplace(std::move(*other));
  return {};
}
