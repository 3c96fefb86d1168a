//===- CheckpointFolder.cpp - Checkpoints of one training -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Checkpoint.h"

#include "Checkpoint/CheckpointNames.h"
#include "Checkpoint/NewestUpTo.h"
#include "Checkpoint/ProbeName.h"
#include "Checkpoint/StoredCheckpoints.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Core/FileIdentity.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
namespace fs = std::filesystem;

static constexpr const char *writerName = ".pdl-writer";
/// Name of the link to the best checkpoint (`CheckpointFolder::markBest`).
static constexpr const char *bestName = "best";
/// Prefix of temporary links that become the link to the best checkpoint.
static constexpr std::string_view bestPrefix = ".pdl-best.";
/// Prefix of temporary files that become the lock file.
static constexpr std::string_view writerPrefix = ".pdl-writer.";

/// An interrupted writer leaves folders whose names are the name of a
/// checkpoint, a mark and further text. Returns the name of the checkpoint, or
/// an empty text if `name` does not have this form.
static std::string checkpointOf(const std::string &name,
                                std::string_view mark) {
  const size_t at = name.find(mark);
  return at != std::string::npos && stepsOf(name.substr(0, at)) >= 0
             ? name.substr(0, at)
             : std::string();
}

/// Mark after the name of an old checkpoint that is complete. It is kept under
/// this name until the new checkpoint has got its name
/// (`CheckpointWriter::commit`).
static constexpr std::string_view replacedMark = ".old.";
/// Mark after the name of a checkpoint that is being removed, and may be
/// incomplete.
static constexpr std::string_view removedMark = ".removed.";
/// Mark after the name of a checkpoint that is being written.
static constexpr std::string_view unfinishedMark = ".tmp.";

std::string pdlrt::publishedPathOf(const std::string &unfinished) {
  const fs::path path(unfinished);
  if (isInObjectStore(unfinished))
    return isStoredPartsName(path.filename()) &&
                   stepsOf(path.parent_path().filename()) >= 0
               ? path.parent_path().string()
               : std::string();
  const std::string name = checkpointOf(path.filename(), unfinishedMark);
  return name.empty() ? std::string() : (path.parent_path() / name).string();
}

static void cleanUp(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename());
  for (const std::string &name : names) {
    const fs::path path = fs::path(folder) / name;
    const std::string replaced = checkpointOf(name, replacedMark);
    // The writer ended between its two renames. The new checkpoint has not got
    // its name, so the old one is the last published one.
    if (!replaced.empty() && !fs::exists(fs::path(folder) / replaced, error))
      fs::rename(path, fs::path(folder) / replaced, error);
    else if (!replaced.empty() || !checkpointOf(name, removedMark).empty() ||
             !checkpointOf(name, unfinishedMark).empty() ||
             name.starts_with(probePrefix) || name.starts_with(writerPrefix) ||
             name.starts_with(bestPrefix))
      fs::remove_all(path, error);
  }
}

/// Like `listCheckpoints`, but returns the error of an object store.
static Expected<std::vector<int64_t>> listOrFail(const std::string &folder) {
  if (isInObjectStore(folder))
    return listStoredCheckpoints(folder);
  std::vector<int64_t> all;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const int64_t steps = stepsOf(entry->path().filename());
    // Ignore other spellings of a number, such as step-7.
    if (steps >= 0 &&
        fs::path(pathOf(folder, steps)).filename() == entry->path().filename())
      all.push_back(steps);
  }
  std::sort(all.rbegin(), all.rend());
  return all;
}

std::vector<int64_t> pdlrt::listCheckpoints(const std::string &folder) {
  Expected<std::vector<int64_t>> all = listOrFail(folder);
  if (all)
    return *std::move(all);
  logWarning(all.status().message());
  return {};
}

/// Returns an error if the step count in the folder's name differs from the one
/// in its manifest. Readers find the newest checkpoint by its name.
static Status checkName(const std::string &path, int64_t steps) {
  const std::string name = fs::path(path).filename();
  if (stepsOf(name) < 0 || stepsOf(name) == steps)
    return {};
  return Status::failedPrecondition(fmt::format(
      "{}: holds the state after {} steps, so that its folder has been "
      "renamed; "
      "rename it to {}, or remove it",
      path, steps, fs::path(pathOf(".", steps)).filename().string()));
}

/// Returns a text that differs if a checkpoint has been replaced; empty if
/// there is none.
static Expected<std::string> identityOf(const std::string &path) {
  if (isInObjectStore(path))
    return storedVersionOf(path);
  const auto identity = FileIdentity::of(path);
  return identity ? fmt::format("{}-{}", identity->device, identity->number)
                  : std::string();
}

/// Like `Checkpoint::open`, but returns no checkpoint, instead of an error, if
/// a job has removed or replaced it during the call. That is not damage.
static Expected<std::optional<Checkpoint>>
openUnlessRemoved(const std::string &path, const PartSelection &parts,
                  Scheduler *scheduler) {
  const auto before = identityOf(path);
  PDLRT_RETURN_IF_ERROR(before.status());
  Expected<Checkpoint> checkpoint = Checkpoint::open(path, parts, scheduler);
  if (checkpoint) {
    PDLRT_RETURN_IF_ERROR(
        checkName(path, checkpoint->manifest().progress.steps));
    return std::optional<Checkpoint>(std::move(*checkpoint));
  }
  const auto now = identityOf(path);
  PDLRT_RETURN_IF_ERROR(now.status());
  if (before->empty() || *now != *before)
    return std::optional<Checkpoint>();
  return checkpoint.status();
}

/// Returns true for an error that does not show whether a checkpoint is
/// damaged: this process lacks resources, or a store does not respond.
static bool isNoDamage(const Status &status) {
  return status.code() == PDL_OUT_OF_MEMORY ||
         status.code() == PDL_UNAVAILABLE ||
         status.code() == PDL_DEADLINE_EXCEEDED;
}

/// Returns true for an error of reading a manifest that may be intact: it has
/// another format version, or this process may not read it.
static bool mayBeIntact(const Status &status) {
  return isNoDamage(status) || status.code() == PDL_FAILED_PRECONDITION ||
         isAtFileLimit();
}

Expected<std::optional<Checkpoint>>
pdlrt::findNewestCheckpoint(const std::string &folder,
                            std::vector<std::string> &refused,
                            CheckpointCheck check, Scheduler *scheduler) {
  return findNewestUpTo(folder, INT64_MAX, refused, check, scheduler);
}

Expected<std::optional<Checkpoint>>
pdlrt::findNewestUpTo(const std::string &folder, int64_t maxSteps,
                      std::vector<std::string> &refused,
                      const PartSelection &parts, Scheduler *scheduler) {
  const size_t refusedBefore = refused.size();
  const auto list = [&] {
    Expected<std::vector<int64_t>> all = listOrFail(folder);
    if (all)
      std::erase_if(*all, [&](int64_t steps) { return steps > maxSteps; });
    return all;
  };
  Expected<std::vector<int64_t>> listed = list();
  PDLRT_RETURN_IF_ERROR(listed.status());
  std::vector<int64_t> all = *std::move(listed);
  for (size_t next = 0; next < all.size();) {
    Expected<std::optional<Checkpoint>> checkpoint =
        openUnlessRemoved(pathOf(folder, all[next]), parts, scheduler);
    if (checkpoint && *checkpoint)
      return checkpoint;
    if (checkpoint) {
      // A job removes checkpoints only after it has written a newer one.
      refused.resize(refusedBefore);
      listed = list();
      PDLRT_RETURN_IF_ERROR(listed.status());
      all = *std::move(listed);
      next = 0;
      continue;
    }
    // It must not resume from an older checkpoint.
    if (isNoDamage(checkpoint.status()))
      return checkpoint.status();
    refused.push_back(checkpoint.status().message());
    ++next;
  }
  if (all.empty())
    return std::optional<Checkpoint>();
  return Status::dataLoss("none of the checkpoints in " + folder +
                          " can be used: " + refused.front());
}

/// If `path` is the link to the best checkpoint, returns the path of this
/// checkpoint, so that predecessors of a delta are found next to it. Otherwise
/// returns `path`.
static std::string withoutLink(const std::string &path) {
  fs::path link(path);
  if (!link.has_filename())
    link = link.parent_path();
  std::error_code error;
  const fs::path target =
      link.filename() == bestName ? fs::read_symlink(link, error) : fs::path();
  return target.empty() || error ? path
                                 : (link.parent_path() / target).string();
}

Expected<Checkpoint> pdlrt::openCheckpoint(const std::string &given,
                                           std::vector<std::string> &refused,
                                           Scheduler *scheduler,
                                           CheckpointCheck check) {
  const std::string path =
      isInObjectStore(given) ? withoutSlashes(given) : withoutLink(given);
  const Expected<bool> isCheckpoint = isCheckpointThere(path);
  PDLRT_RETURN_IF_ERROR(isCheckpoint.status());
  std::error_code error;
  if (!isInObjectStore(path) && !fs::exists(path, error))
    return Status::notFound(path + ": there is no such folder; name one that "
                                   "'trainer train --checkpoint' wrote to");
  if (*isCheckpoint || stepsOf(fs::path(path).filename()) >= 0) {
    Expected<std::optional<Checkpoint>> named =
        openUnlessRemoved(path, check, scheduler);
    if (!named)
      return named.status();
    if (std::optional<Checkpoint> &there = *named)
      return std::move(*there);
    return Status::unavailable(path +
                               ": was removed or replaced while it was "
                               "read; name its folder for the newest one");
  }
  Expected<std::optional<Checkpoint>> newest =
      findNewestCheckpoint(path, refused, check, scheduler);
  if (!newest)
    return newest.status();
  std::optional<Checkpoint> &found = *newest;
  if (!found)
    return Status::notFound(path + ": there is no checkpoint in it; name a "
                                   "folder that 'trainer train --checkpoint' "
                                   "wrote to");
  return std::move(*found);
}

/// Returns the path of the folder's lock file. It exists while a process writes
/// checkpoints to the folder, and contains the number of that process's job if
/// it has one. The process holds the lock of the file.
static std::string lockPath(const std::string &folder) {
  return folder + "/" + writerName;
}

static Status cannotBeWritten(const std::string &path, int reason) {
  return Status::ofErrno(
      reason, path + ": cannot be written to: " + std::strerror(reason) +
                  "; check that it may be written and that its disk has "
                  "room, or name another");
}

Status CheckpointFolder::isInUse(const std::string &path) {
  return Status::unavailable(path + ": another process writes its checkpoints "
                                    "there; wait for its end, or name another "
                                    "folder");
}

/// Creates a folder and its parents, and flushes them so that they survive a
/// crash.
static Status makeFolder(const std::string &path) {
  std::error_code error;
  fs::path next = fs::absolute(path, error).lexically_normal();
  if (!next.has_filename())
    next = next.parent_path();
  std::vector<fs::path> made;
  for (; !next.empty() && !fs::exists(next, error); next = next.parent_path())
    made.push_back(next);
  fs::create_directories(path, error);
  if (error)
    return Status::ofErrno(error.value(),
                           path + ": the folder cannot be made: " +
                               error.message() + "; name another");
  for (const fs::path &each : made)
    PDLRT_RETURN_IF_ERROR(flushFolder(each.parent_path()));
  return {};
}

/// Returns an error if `path` is itself a checkpoint. A checkpoint must not
/// contain other checkpoints.
static Status checkNoCheckpoint(const std::string &path) {
  const std::string name = path + "/" + manifestName;
  const Expected<bool> isCheckpoint = isCheckpointThere(path);
  PDLRT_RETURN_IF_ERROR(isCheckpoint.status());
  if (!*isCheckpoint)
    return {};
  const Expected<CheckpointManifest> manifest = readManifest(name);
  return Status::invalidArgument(
      path + ": is one checkpoint, not a folder of them; name a new folder, " +
      (manifest ? fmt::format("and move this one to {} in it to go on from it",
                              fs::path(pathOf(".", manifest->progress.steps))
                                  .filename()
                                  .string())
                : std::string("or the one that it is in")));
}

/// Returns the contents of the lock file.
static std::string jobText(uint64_t job) { return std::to_string(job) + "\n"; }

/// Returns the number of the job whose process owns the folder, or 0 if the
/// lock file contains none.
static uint64_t jobOfOwner(const std::string &folder) {
  std::ifstream file(lockPath(folder));
  uint64_t job = 0;
  return file >> job ? job : 0;
}

Expected<std::optional<CheckpointFolder>>
CheckpointFolder::openIfFree(const std::string &path, uint64_t job) {
  PDLRT_RETURN_IF_ERROR(checkNoCheckpoint(path));
  if (isInObjectStore(path)) {
    PDLRT_RETURN_IF_ERROR(prepareStoredFolder(path));
    return std::optional(CheckpointFolder(path, LockFile()));
  }
  PDLRT_RETURN_IF_ERROR(makeFolder(path));
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    return cannotBeWritten(path, errno);
  int reason = 0;
  LockFile lock = LockFile::take(lockPath(path), reason);
  if (reason == EWOULDBLOCK)
    return std::optional<CheckpointFolder>();
  if (!lock)
    return cannotBeWritten(path, reason);
  // `reason` is not 0 if the file system does not support locks. Then the
  // folder is used without a lock, unless the file names the same job: a
  // process of that job may still write to the folder.
  if (reason != 0 && job != 0 && jobOfOwner(path) == job) {
    lock.leave();
    return std::optional<CheckpointFolder>();
  }
  reason = lock.write("");
  if (reason != 0)
    return cannotBeWritten(path, reason);
  cleanUp(path);
  return std::optional(CheckpointFolder(path, std::move(lock)));
}

Expected<CheckpointFolder> CheckpointFolder::open(const std::string &path) {
  auto opened = openIfFree(path);
  if (!opened)
    return std::move(opened).status();
  std::optional<CheckpointFolder> &folder = *opened;
  if (!folder)
    return isInUse(path);
  return std::move(*folder);
}

Expected<CheckpointFolder> CheckpointFolder::takeOver(const std::string &path,
                                                      uint64_t job) {
  auto opened = openIfFree(path, job);
  if (!opened)
    return std::move(opened).status();
  if (std::optional<CheckpointFolder> &free = *opened) {
    // The next incarnation must be able to take it over in turn.
    if (job != 0)
      PDLRT_RETURN_IF_ERROR(free->note(job));
    return std::move(*free);
  }
  if (job == 0 || jobOfOwner(path) != job)
    return isInUse(path);
  int reason = 0;
  LockFile lock = LockFile::takeOver(lockPath(path), jobText(job), reason);
  if (!lock)
    return cannotBeWritten(path, reason);
  // Does not clean up: servers may still write parts for the previous owner.
  // The next process that opens the folder removes what is left.
  return CheckpointFolder(path, std::move(lock));
}

Expected<CheckpointFolder> CheckpointFolder::openFor(const std::string &path,
                                                     uint64_t job) {
  auto opened = openIfFree(path, job);
  if (!opened)
    return std::move(opened).status();
  if (std::optional<CheckpointFolder> &free = *opened) {
    PDLRT_RETURN_IF_ERROR(free->note(job));
    return std::move(*free);
  }
  if (job == 0 || jobOfOwner(path) != job)
    return isInUse(path);
  return CheckpointFolder(path, LockFile());
}

Status CheckpointFolder::note(uint64_t job) const {
  if (isInObjectStore(folder))
    return {};
  const int reason = lock.write(jobText(job));
  return reason == 0 ? Status() : cannotBeWritten(folder, reason);
}

Status CheckpointFolder::checkOwner() const {
  if (!lock || lock.isOwn())
    return {};
  return Status::failedPrecondition(
      folder + ": another start of this trainer writes its "
               "checkpoints there now; this one is over");
}

std::string CheckpointFolder::nameIn(const std::string &folder, int64_t steps) {
  return pathOf(folder, steps);
}

Status CheckpointFolder::remove(int64_t steps) const {
  if (isInObjectStore(folder))
    return removeStoredCheckpoint(nameOf(steps));
  // Renamed first, so that no reader sees a partly removed checkpoint.
  const std::string path = nameOf(steps);
  const std::string removed =
      fmt::format("{}{}{}", path, removedMark, getpid());
  std::error_code error;
  fs::rename(path, removed, error);
  if (!error)
    fs::remove_all(removed, error);
  return error
             ? Status::ofErrno(error.value(),
                               path + ": cannot be removed: " + error.message())
             : Status();
}

/// Adds the step counts of a checkpoint and of all its predecessors to
/// `needed`. Stops if a manifest is damaged, or if a checkpoint is not the
/// predecessor that its successor names. Returns an error if it cannot be told
/// whether a manifest is damaged.
static Status addNeeded(const std::string &folder, int64_t steps,
                        std::set<int64_t> &needed) {
  std::optional<uint64_t> expected;
  while (true) {
    uint64_t digest = 0;
    const Expected<CheckpointManifest> manifest =
        readManifest(pathOf(folder, steps) + "/" + manifestName, &digest);
    if (!manifest && mayBeIntact(manifest.status()))
      return manifest.status();
    if (!manifest || digest != expected.value_or(digest))
      return {};
    needed.insert(steps);
    if (!manifest->after)
      return {};
    // A predecessor must have fewer steps. Names of another form have the count
    // -1, and such folders are never removed.
    const int64_t before = stepsOf(manifest->after->name);
    if (before < 0 || before >= steps)
      return {};
    steps = before;
    expected = manifest->after->digest;
  }
}

Status CheckpointFolder::markBest(int64_t steps) const {
  const std::string link = folder + "/" + bestName;
  if (isInObjectStore(folder))
    return Status::invalidArgument(link +
                                   ": an object store has no links; name a "
                                   "folder of this host");
  // Renamed, so that there is always a link.
  const std::string temporary =
      fmt::format("{}/{}{}", folder, bestPrefix, getpid());
  std::error_code error, ignored;
  fs::remove(temporary, error);
  fs::create_symlink(fs::path(nameOf(steps)).filename(), temporary, error);
  if (!error)
    fs::rename(temporary, link, error);
  if (!error)
    return {};
  fs::remove(temporary, ignored);
  const bool isFolder = error == std::errc::is_a_directory ||
                        error == std::errc::file_exists ||
                        error == std::errc::directory_not_empty;
  return Status::ofErrno(
      error.value(),
      fmt::format("{}: the link to the best checkpoint cannot be made: {}; {}",
                  link, error.message(),
                  isFolder ? "remove what has this name"
                           : "check that --checkpoint may be written and is "
                             "on a file system with symbolic links"));
}

/// Returns the number of steps of the best checkpoint in `folder`, or -1 if
/// none is marked.
static int64_t bestStepsIn(const std::string &folder) {
  std::error_code error;
  const fs::path target =
      isInObjectStore(folder)
          ? fs::path()
          : fs::read_symlink(fs::path(folder) / bestName, error);
  return error || target.has_parent_path() ? -1 : stepsOf(target.string());
}

/// Returns the numbers of steps of checkpoints that are kept because their
/// evaluation was the best: the marked one, and the one that the checkpoint
/// after `steps` steps records. These differ if the training was killed before
/// it could mark a checkpoint. Returns an error if it cannot be told whether
/// that manifest is damaged.
static Expected<std::set<int64_t>> bestOf(const std::string &folder,
                                          int64_t steps) {
  std::set<int64_t> best = {bestStepsIn(folder)};
  const Expected<CheckpointManifest> manifest =
      readManifest(pathOf(folder, steps) + "/" + manifestName);
  if (!manifest && mayBeIntact(manifest.status()))
    return manifest.status();
  if (manifest && manifest->progress.evaluations.kept.steps > 0)
    best.insert(manifest->progress.evaluations.kept.steps);
  return best;
}

Status CheckpointFolder::removeOld(int64_t steps, int64_t keep) const {
  if (keep == 0)
    return {};
  int64_t kept = 0;
  std::set<int64_t> needed;
  const Expected<std::set<int64_t>> best = bestOf(folder, steps);
  PDLRT_RETURN_IF_ERROR(best.status());
  const Expected<std::vector<int64_t>> all = listOrFail(folder);
  PDLRT_RETURN_IF_ERROR(all.status());
  std::vector<int64_t> old;
  for (int64_t other : *all) {
    if (other > steps || ++kept <= keep || best->contains(other))
      PDLRT_RETURN_IF_ERROR(addNeeded(folder, other, needed));
    else
      old.push_back(other);
  }
  // Newest first, so that no remaining delta lacks its predecessor.
  for (int64_t other : old)
    if (!needed.contains(other))
      PDLRT_RETURN_IF_ERROR(remove(other));
  return {};
}

Expected<CheckpointFolder::Pruned> CheckpointFolder::prune(int64_t keep) const {
  Pruned pruned;
  std::set<int64_t> needed, renamed;
  std::string firstRefused;
  const Expected<std::vector<int64_t>> listed = listOrFail(folder);
  PDLRT_RETURN_IF_ERROR(listed.status());
  const std::vector<int64_t> &all = *listed;
  for (int64_t steps : all) {
    if (pruned.kept == keep)
      break;
    const Expected<Checkpoint> checkpoint = Checkpoint::open(nameOf(steps));
    const Status status =
        checkpoint
            ? checkName(nameOf(steps), checkpoint->manifest().progress.steps)
            : checkpoint.status();
    // An intact checkpoint must not be removed.
    if (isNoDamage(status))
      return status;
    if (!checkpoint)
      if (const Expected<CheckpointManifest> manifest =
              readManifest(pathOf(folder, steps) + "/" + manifestName);
          !manifest && mayBeIntact(manifest.status()))
        return manifest.status();
    if (!status.ok()) {
      if (firstRefused.empty())
        firstRefused = ": " + status.message();
      if (checkpoint) {
        renamed.insert(steps);
        pruned.renamed.push_back(status.message());
      }
      continue;
    }
    ++pruned.kept;
    PDLRT_RETURN_IF_ERROR(
        checkpoint->forEachLink([&](const Checkpoint &link) -> Status {
          needed.insert(stepsOf(fs::path(link.path()).filename()));
          return {};
        }));
  }
  if (pruned.kept == 0 && !all.empty())
    return Status::dataLoss(folder +
                            ": none of the checkpoints there is whole, "
                            "so none was removed; name another folder" +
                            firstRefused);
  if (!needed.empty()) {
    const Expected<std::set<int64_t>> best = bestOf(folder, *needed.rbegin());
    PDLRT_RETURN_IF_ERROR(best.status());
    for (int64_t steps : *best)
      if (std::ranges::find(all, steps) != all.end())
        PDLRT_RETURN_IF_ERROR(addNeeded(folder, steps, needed));
  }
  pruned.needed = int64_t(needed.size()) - pruned.kept;
  for (int64_t steps : all) {
    if (needed.contains(steps) || renamed.contains(steps))
      continue;
    PDLRT_RETURN_IF_ERROR(remove(steps));
    pruned.removed.push_back(nameOf(steps));
  }
  return pruned;
}
