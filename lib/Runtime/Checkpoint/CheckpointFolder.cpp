//===- CheckpointFolder.cpp - Checkpoints of one training -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Checkpoint.h"

#include "Checkpoint/NewestUpTo.h"
#include "Checkpoint/ProbeName.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Core/FileIdentity.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
namespace fs = std::filesystem;

static constexpr std::string_view namePrefix = "step-";
static constexpr const char *writerName = ".pdl-writer";
/// Prefix of temporary files that become the lock file.
static constexpr std::string_view writerPrefix = ".pdl-writer.";

/// Returns the step count in the name of a checkpoint's folder, or -1 for other
/// names.
static int64_t stepsOf(const std::string &name) {
  if (name.compare(0, namePrefix.size(), namePrefix) != 0)
    return -1;
  int64_t steps = -1;
  const char *end = name.data() + name.size();
  auto [rest, error] =
      std::from_chars(name.data() + namePrefix.size(), end, steps);
  return error == std::errc() && rest == end && steps >= 0 ? steps : -1;
}

static std::string pathOf(const std::string &folder, int64_t steps) {
  return fmt::format("{}/{}{:012}", folder, namePrefix, steps);
}

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

bool pdlrt::isUnfinishedCheckpoint(const std::string &name) {
  return !checkpointOf(name, unfinishedMark).empty();
}

std::string pdlrt::publishedPathOf(const std::string &unfinished) {
  const fs::path path(unfinished);
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
    // its name, so the old one is the last complete one.
    if (!replaced.empty() && !fs::exists(fs::path(folder) / replaced, error))
      fs::rename(path, fs::path(folder) / replaced, error);
    else if (!replaced.empty() || !checkpointOf(name, removedMark).empty() ||
             !checkpointOf(name, unfinishedMark).empty() ||
             name.starts_with(probePrefix) || name.starts_with(writerPrefix))
      fs::remove_all(path, error);
  }
}

std::vector<int64_t> pdlrt::listCheckpoints(const std::string &folder) {
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

/// Like `Checkpoint::open`, but returns no checkpoint, instead of an error, if
/// a job has removed or replaced it during the call. That is not damage.
static Expected<std::optional<Checkpoint>>
openUnlessRemoved(const std::string &path, CheckpointCheck check,
                  Scheduler *scheduler) {
  const auto before = FileIdentity::of(path);
  Expected<Checkpoint> checkpoint = Checkpoint::open(path, check, scheduler);
  if (checkpoint) {
    PDLRT_RETURN_IF_ERROR(
        checkName(path, checkpoint->manifest().progress.steps));
    return std::optional<Checkpoint>(std::move(*checkpoint));
  }
  if (!before || FileIdentity::of(path) != before)
    return std::optional<Checkpoint>();
  return checkpoint.status();
}

Expected<std::optional<Checkpoint>>
pdlrt::findNewestCheckpoint(const std::string &folder,
                            std::vector<std::string> &refused,
                            CheckpointCheck check, Scheduler *scheduler) {
  return findNewestUpTo(folder, INT64_MAX, refused, check, scheduler);
}

Expected<std::optional<Checkpoint>>
pdlrt::findNewestUpTo(const std::string &folder, int64_t maxSteps,
                      std::vector<std::string> &refused, CheckpointCheck check,
                      Scheduler *scheduler) {
  const size_t refusedBefore = refused.size();
  const auto list = [&] {
    std::vector<int64_t> all = listCheckpoints(folder);
    std::erase_if(all, [&](int64_t steps) { return steps > maxSteps; });
    return all;
  };
  std::vector<int64_t> all = list();
  for (size_t next = 0; next < all.size();) {
    Expected<std::optional<Checkpoint>> checkpoint =
        openUnlessRemoved(pathOf(folder, all[next]), check, scheduler);
    if (checkpoint && *checkpoint)
      return checkpoint;
    if (checkpoint) {
      // A job removes checkpoints only after it has written a newer one.
      refused.resize(refusedBefore);
      all = list();
      next = 0;
      continue;
    }
    // If this process lacks resources, it must not resume from an older
    // checkpoint.
    if (checkpoint.status().code() == PDL_OUT_OF_MEMORY)
      return checkpoint.status();
    refused.push_back(checkpoint.status().message());
    ++next;
  }
  if (all.empty())
    return std::optional<Checkpoint>();
  return Status::dataLoss("none of the checkpoints in " + folder +
                          " can be used: " + refused.front());
}

Expected<Checkpoint> pdlrt::openCheckpoint(const std::string &path,
                                           std::vector<std::string> &refused,
                                           Scheduler *scheduler,
                                           CheckpointCheck check) {
  std::error_code error;
  if (!fs::exists(path, error))
    return Status::notFound(path + ": there is no such folder; name one that "
                                   "'trainer train --checkpoint' wrote to");
  if (fs::exists(path + "/" + manifestName, error) ||
      stepsOf(fs::path(path).filename()) >= 0) {
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
  std::error_code error;
  if (!fs::exists(name, error))
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
  auto folder = openIfFree(path);
  if (!folder)
    return std::move(folder).status();
  if (!*folder)
    return isInUse(path);
  return std::move(**folder);
}

Expected<CheckpointFolder> CheckpointFolder::takeOver(const std::string &path,
                                                      uint64_t job) {
  auto free = openIfFree(path, job);
  if (!free)
    return std::move(free).status();
  if (*free)
    return std::move(**free);
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
  auto free = openIfFree(path, job);
  if (!free)
    return std::move(free).status();
  if (*free) {
    PDLRT_RETURN_IF_ERROR((*free)->note(job));
    return std::move(**free);
  }
  if (job == 0 || jobOfOwner(path) != job)
    return isInUse(path);
  return CheckpointFolder(path, LockFile());
}

Status CheckpointFolder::note(uint64_t job) const {
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
/// `needed`. Stops and returns false if a manifest is unreadable, or if a
/// checkpoint is not the predecessor that its successor names.
static bool addNeeded(const std::string &folder, int64_t steps,
                      std::set<int64_t> &needed) {
  std::optional<uint64_t> expected;
  while (true) {
    uint64_t digest = 0;
    const Expected<CheckpointManifest> manifest =
        readManifest(pathOf(folder, steps) + "/" + manifestName, &digest);
    if (!manifest || digest != expected.value_or(digest))
      return false;
    needed.insert(steps);
    if (!manifest->after)
      return true;
    // A predecessor must have fewer steps. Names of another form have the count
    // -1, and such folders are never removed.
    const int64_t before = stepsOf(manifest->after->name);
    if (before < 0 || before >= steps)
      return false;
    steps = before;
    expected = manifest->after->digest;
  }
}

Status CheckpointFolder::removeOld(int64_t steps, int64_t keep) const {
  if (keep == 0)
    return {};
  int64_t kept = 0;
  std::set<int64_t> needed;
  std::vector<int64_t> old;
  for (int64_t other : listCheckpoints(folder)) {
    if (other > steps || ++kept <= keep)
      addNeeded(folder, other, needed);
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
  const std::vector<int64_t> all = listCheckpoints(folder);
  for (int64_t steps : all) {
    if (pruned.kept == keep)
      break;
    const Expected<Checkpoint> checkpoint = Checkpoint::open(nameOf(steps));
    const Status status =
        checkpoint
            ? checkName(nameOf(steps), checkpoint->manifest().progress.steps)
            : checkpoint.status();
    // Insufficient resources of this process are not a fault of the checkpoint.
    if (status.code() == PDL_OUT_OF_MEMORY)
      return status;
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
  pruned.needed = int64_t(needed.size()) - pruned.kept;
  for (int64_t steps : all) {
    if (needed.contains(steps) || renamed.contains(steps))
      continue;
    PDLRT_RETURN_IF_ERROR(remove(steps));
    pruned.removed.push_back(nameOf(steps));
  }
  return pruned;
}
