//===- CheckpointFolderTest.cpp - Writers of a folder, newest checkpoint --===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/SavedModel.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/State/Model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace pdlrt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

TEST(CheckpointFolder, FindsTheNewestWholeOne) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  const std::string path = folder.file("all");
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> none =
      findNewestCheckpoint(path, refused);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  {
    Expected<CheckpointFolder> all = CheckpointFolder::open(path);
    ASSERT_TRUE(all.ok()) << all.status().message();
    for (int64_t steps : {5, 40, 300})
      save(*model, all->nameOf(steps), steps);
  }
  folder.write("all/step-7x", "");
  EXPECT_THAT(listCheckpoints(path), ElementsAre(300, 40, 5));
  fs::remove(path + "/step-000000000300/manifest.json");
  Expected<std::optional<Checkpoint>> newest =
      findNewestCheckpoint(path, refused);
  ASSERT_TRUE(newest.ok());
  const std::optional<Checkpoint> &found = *newest;
  EXPECT_EQ(found ? found->manifest().progress.steps : -1, 40);
  EXPECT_THAT(refused, ElementsAre(HasSubstr("step-000000000300")));
  fs::remove(path + "/step-000000000040/manifest.json");
  fs::remove(path + "/step-000000000005/dense.safetensors");
  EXPECT_THAT(findNewestCheckpoint(path, refused).status().message(),
              HasSubstr("none of the checkpoints"));
}

// Because of its name, the checkpoint would be used as the newest one each
// time.
TEST(CheckpointFolder, ARenamedCheckpointIsPassedOver) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  const std::string path = folder.file("all");
  {
    Expected<CheckpointFolder> all = CheckpointFolder::open(path);
    ASSERT_TRUE(all.ok()) << all.status().message();
    for (int64_t steps : {5, 40})
      save(*model, all->nameOf(steps), steps);
  }
  const std::string renamed = path + "/step-000000000999";
  fs::rename(path + "/step-000000000005", renamed);
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> newest =
      findNewestCheckpoint(path, refused);
  ASSERT_TRUE(newest.ok());
  EXPECT_EQ((*newest)->manifest().progress.steps, 40);
  EXPECT_THAT(refused,
              ElementsAre(AllOf(HasSubstr("step-000000000999: holds the state "
                                          "after 5 steps"),
                                HasSubstr("rename it to step-000000000005"))));
  EXPECT_FALSE(openCheckpoint(renamed, refused).ok());
  // A name without a number is free for users.
  fs::rename(renamed, path + "/best");
  EXPECT_TRUE(openCheckpoint(path + "/best", refused).ok());
}

TEST(CheckpointFolder, KeepsTheBestCheckpoint) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  const std::string path = folder.file("all");
  Expected<CheckpointFolder> all = CheckpointFolder::open(path);
  ASSERT_TRUE(all.ok()) << all.status().message();
  for (int64_t steps : {5, 10, 15, 20})
    save(*model, all->nameOf(steps), steps);
  ASSERT_TRUE(all->markBest(5).ok());
  ASSERT_TRUE(all->markBest(10).ok());
  EXPECT_EQ(fs::read_symlink(path + "/best"), "step-000000000010");
  ASSERT_TRUE(all->removeOld(20, 1).ok());
  EXPECT_THAT(listCheckpoints(path), ElementsAre(20, 10));
  const auto pruned = all->prune(1);
  ASSERT_TRUE(pruned.ok());
  EXPECT_THAT(pruned->removed, IsEmpty());
  EXPECT_EQ(pruned->kept, 1);
  EXPECT_EQ(pruned->needed, 1);
  std::vector<std::string> refused;
  for (const char *name : {"/best", "/best/"}) {
    const Expected<Checkpoint> best = openCheckpoint(path + name, refused);
    ASSERT_TRUE(best.ok()) << best.status().message();
    EXPECT_EQ(best->path(), path + "/step-000000000010");
  }
  // Without the link, the checkpoint is an old one like others.
  fs::remove(path + "/best");
  ASSERT_TRUE(all->removeOld(20, 1).ok());
  EXPECT_THAT(listCheckpoints(path), ElementsAre(20));
  fs::create_directory(path + "/best");
  EXPECT_THAT(all->markBest(20).message(),
              AllOf(HasSubstr("the link to the best checkpoint cannot be made"),
                    HasSubstr("; remove what has this name")));
  // The temporary link is removed.
  EXPECT_EQ(std::ranges::count_if(
                fs::directory_iterator(path),
                [](const auto &entry) { return entry.is_symlink(); }),
            0);
  fs::remove_all(path);
  EXPECT_THAT(all->markBest(20).message(),
              HasSubstr("on a file system with symbolic links"));
}

// A training that is killed after a save may not have marked its checkpoint.
TEST(CheckpointFolder, KeepsTheBestCheckpointThatTheNewestOneRecords) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  Expected<CheckpointFolder> all = CheckpointFolder::open(folder.file("all"));
  ASSERT_TRUE(all.ok()) << all.status().message();
  for (int64_t steps : {5, 10, 15, 20, 25}) {
    CheckpointManifest manifest;
    manifest.progress.steps = steps;
    manifest.progress.evaluations = {
        .steps = steps, .kept = {.metric = "@auc", .value = 0.7, .steps = 10}};
    CheckpointWriter writer(all->nameOf(steps));
    ASSERT_TRUE(saveModel(*model, writer, manifest).ok());
    ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
  }
  ASSERT_TRUE(all->markBest(5).ok());
  ASSERT_TRUE(all->removeOld(25, 2).ok());
  EXPECT_THAT(listCheckpoints(folder.file("all")), ElementsAre(25, 20, 10, 5));
  const auto pruned = all->prune(1);
  ASSERT_TRUE(pruned.ok());
  EXPECT_THAT(listCheckpoints(folder.file("all")), ElementsAre(25, 10, 5));
}

// Servers may save after they have lost the trainers. The first trainer may
// then be alive and hold the lock.
TEST(CheckpointFolder, AProcessOfTheSameJobWritesConcurrently) {
  TestFolder folder;
  const std::string path = folder.file("all");
  {
    auto owner = CheckpointFolder::open(path);
    ASSERT_TRUE(owner.ok());
    EXPECT_FALSE(CheckpointFolder::openFor(path, 8).ok());
    ASSERT_TRUE(owner->note(8).ok());
    EXPECT_FALSE(CheckpointFolder::openFor(path, 7).ok());
    EXPECT_FALSE(CheckpointFolder::openFor(path, 0).ok());
    fs::create_directory(path + "/step-000000000006.tmp.77");
    {
      auto other = CheckpointFolder::openFor(path, 8);
      ASSERT_TRUE(other.ok()) << other.status().message();
      EXPECT_TRUE(other->checkOwner().ok());
    }
    EXPECT_TRUE(owner->checkOwner().ok());
    EXPECT_TRUE(fs::exists(path + "/step-000000000006.tmp.77"));
  }
  // The owner has ended, so the lock is taken over. A later process of the
  // owner's job must take over the folder too.
  auto other = CheckpointFolder::openFor(path, 8);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(*CheckpointFolder::openIfFree(path));
  EXPECT_TRUE(CheckpointFolder::takeOver(path, 8).ok());
  EXPECT_FALSE(other->checkOwner().ok());
}

// The previous incarnation of a trainer may be suspended or disconnected.
TEST(CheckpointFolder, ALaterStartOfTheSameJobTakesItOver) {
  TestFolder folder;
  const std::string path = folder.file("all");
  auto earlier = CheckpointFolder::open(path);
  ASSERT_TRUE(earlier.ok());
  const auto isRefused = [&](uint64_t job) {
    const Status status = CheckpointFolder::takeOver(path, job).status();
    EXPECT_THAT(status.message(), HasSubstr("another process"));
    EXPECT_TRUE(earlier->checkOwner().ok());
  };
  // An owner that has not named its job counts as one of another job.
  isRefused(7);
  ASSERT_TRUE(earlier->note(8).ok());
  isRefused(7);
  isRefused(0);
  fs::create_directory(path + "/step-000000000006.tmp.77");
  {
    auto later = CheckpointFolder::takeOver(path, 8);
    ASSERT_TRUE(later.ok()) << later.status().message();
    EXPECT_TRUE(later->checkOwner().ok());
    EXPECT_THAT(earlier->checkOwner().message(), HasSubstr("another start"));
    // A process may still write to this folder for the previous incarnation.
    EXPECT_TRUE(fs::exists(path + "/step-000000000006.tmp.77"));
    // The folder stays locked when the previous incarnation ends, and when a
    // further incarnation takes it over.
    {
      const auto ended = std::move(*earlier);
    }
    EXPECT_THAT(CheckpointFolder::open(path).status().message(),
                HasSubstr("another process"));
    auto last = CheckpointFolder::takeOver(path, 8);
    ASSERT_TRUE(last.ok());
    EXPECT_FALSE(later->checkOwner().ok());
    EXPECT_FALSE(*CheckpointFolder::openIfFree(path));
  }
  EXPECT_TRUE(CheckpointFolder::takeOver(path, 9).ok());
  EXPECT_THAT(filesOf(path), ElementsAre());
}

// The previous incarnation may end just before the next one takes the folder.
TEST(CheckpointFolder, AStartThatFoundItFreeIsTakenOver) {
  TestFolder folder;
  const std::string path = folder.file("all");
  auto earlier = CheckpointFolder::takeOver(path, 8);
  ASSERT_TRUE(earlier.ok());
  EXPECT_FALSE(CheckpointFolder::takeOver(path, 9).ok());
  EXPECT_TRUE(CheckpointFolder::openFor(path, 8).ok());
  auto later = CheckpointFolder::takeOver(path, 8);
  ASSERT_TRUE(later.ok()) << later.status().message();
  EXPECT_FALSE(earlier->checkOwner().ok());
}

TEST(CheckpointFolder, OneWriterCleansUp) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  const std::string path = folder.file("all");
  {
    Expected<CheckpointFolder> all = CheckpointFolder::open(path);
    ASSERT_TRUE(all.ok());
    EXPECT_THAT(CheckpointFolder::open(path).status().message(),
                HasSubstr("another process"));
    for (int64_t steps : {1, 2, 3, 4, 5})
      save(*model, all->nameOf(steps), steps);
    ASSERT_TRUE(all->removeOld(4, 2).ok());
    EXPECT_THAT(listCheckpoints(path), ElementsAre(5, 4, 3));
    ASSERT_TRUE(all->removeOld(5, 0).ok());
    EXPECT_THAT(listCheckpoints(path), ElementsAre(5, 4, 3));
  }
  // As if writers had been killed: within a part, between the two renames of a
  // replacement, and after them.
  fs::create_directory(path + "/step-000000000006.tmp.77");
  folder.write("all/step-000000000006.tmp.77/dense.safetensors.tmp.77", "x");
  fs::rename(path + "/step-000000000005", path + "/step-000000000005.old.77");
  fs::create_directory(path + "/step-000000000004.old.77");
  folder.write("all/notes.txt", "of the user");
  ASSERT_TRUE(CheckpointFolder::open(path).ok());
  EXPECT_THAT(filesOf(path),
              ElementsAre("notes.txt", "step-000000000003", "step-000000000004",
                          "step-000000000005"));
  EXPECT_TRUE(Checkpoint::open(path + "/step-000000000005").ok());
}

namespace {

/// Watches events on the names in a folder.
class Watch {
public:
  Watch(const std::string &folder, uint32_t events)
      : watch(inotify_init1(IN_CLOEXEC)) {
    EXPECT_GE(inotify_add_watch(watch, folder.c_str(), events), 0);
  }
  ~Watch() { close(watch); }
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;
  /// Waits for the first of the events.
  void await() const {
    char event[4096];
    EXPECT_GT(read(watch, event, sizeof(event)), 0);
  }

private:
  const int watch;
};

} // namespace

// A writer that dies during a removal leaves no valid checkpoint.
TEST(CheckpointFolder, WhatIsHalfRemovedDoesNotReturn) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  const std::string path = folder.file("all");
  pid_t child = -1;
  {
    Expected<CheckpointFolder> all = CheckpointFolder::open(path);
    ASSERT_TRUE(all.ok());
    for (int64_t steps : {1, 2})
      save(*model, all->nameOf(steps), steps);
    // Create so many names that the writer is killed during their removal.
    for (int i = 0; i < 20'000; ++i)
      folder.write("all/step-000000000001/more" + std::to_string(i), "");
    const Watch watch(path, IN_MOVED_FROM);
    child = fork();
    if (child == 0) {
      (void)all->removeOld(2, 1);
      _exit(0);
    }
    watch.await();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  EXPECT_THAT(listCheckpoints(path), ElementsAre(2));
  ASSERT_TRUE(CheckpointFolder::open(path).ok());
  EXPECT_THAT(filesOf(path), ElementsAre("step-000000000002"));
}

// A job with --checkpoint-keep 1 may remove a checkpoint while another process
// reads it.
TEST(CheckpointFolder, WhatIsRemovedMeanwhileIsNotDamaged) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  const std::string path = folder.file("all");
  Expected<CheckpointFolder> all = CheckpointFolder::open(path);
  ASSERT_TRUE(all.ok());
  save(*model, all->nameOf(1), 1);
  std::atomic<bool> isOver = false;
  std::thread job([&] {
    for (int64_t steps = 2; !isOver; ++steps) {
      save(*model, all->nameOf(steps), steps);
      EXPECT_TRUE(all->removeOld(steps, 1).ok());
    }
  });
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::string> refused;
    const Expected<Checkpoint> found = openCheckpoint(path, refused);
    EXPECT_TRUE(found.ok()) << found.status().message();
    EXPECT_THAT(refused, IsEmpty());
    if (!found.ok() || !refused.empty())
      break;
  }
  isOver = true;
  job.join();
}

namespace {

/// Behavior of the replaced C functions: number of flushed folders, and the
/// errors to return.
int flushedFolders = 0, flushError = 0, lockError = 0;

} // namespace

extern "C" int flock(int file, int operation) {
  if (lockError != 0) {
    errno = lockError;
    return -1;
  }
  return int(syscall(SYS_flock, file, operation));
}

extern "C" int fsync(int file) {
  struct stat found;
  if (fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) {
    ++flushedFolders;
    if (flushError != 0) {
      errno = flushError;
      return -1;
    }
  }
  return int(syscall(SYS_fsync, file));
}

// Some file systems have no locks. There a lock can be taken although another
// process of the same job is alive.
TEST(CheckpointFolder, WithoutLocksProcessesOfOneJobLeaveEachOtherAlone) {
  TestFolder folder;
  const std::string path = folder.file("all");
  lockError = ENOLCK;
  {
    auto owner = CheckpointFolder::open(path);
    ASSERT_TRUE(owner.ok());
    ASSERT_TRUE(owner->note(8).ok());
    const std::string unfinished = path + "/step-000000000006.tmp.77";
    fs::create_directory(unfinished);
    EXPECT_TRUE(CheckpointFolder::openFor(path, 8).ok());
    EXPECT_TRUE(owner->checkOwner().ok());
    EXPECT_TRUE(fs::exists(unfinished));
    {
      auto later = CheckpointFolder::takeOver(path, 8);
      ASSERT_TRUE(later.ok());
      EXPECT_FALSE(owner->checkOwner().ok());
      EXPECT_TRUE(fs::exists(unfinished));
    }
    // A process of another job removes the unfinished folders.
    EXPECT_TRUE(CheckpointFolder::openFor(path, 9).ok());
    EXPECT_FALSE(fs::exists(unfinished));
  }
  lockError = 0;
}

// Nothing is removed until the checkpoint has been flushed.
TEST(CheckpointWriter, AFolderThatCannotBeFlushedIsAnError) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  auto saveAgain = [&](int64_t steps) {
    CheckpointWriter writer(
        CheckpointFolder::nameIn(folder.file("all"), steps));
    CheckpointManifest manifest;
    EXPECT_TRUE(saveModel(*model, writer, manifest).ok());
    return writer;
  };
  Expected<CheckpointFolder> all = CheckpointFolder::open(folder.file("all"));
  ASSERT_TRUE(all.ok());
  save(*model, all->nameOf(1), 1);
  for (const int error : {EIO, ENOSPC}) {
    CheckpointWriter writer = saveAgain(1);
    flushError = error;
    EXPECT_THAT(
        writer.commit(CheckpointManifest()).message(),
        AllOf(HasSubstr("cannot be flushed"), HasSubstr(std::strerror(error))));
    flushError = 0;
  }
  // Some file systems do not flush folders.
  for (const int error : {EINVAL, ENOTSUP}) {
    CheckpointWriter writer = saveAgain(2);
    flushError = error;
    EXPECT_TRUE(writer.commit(CheckpointManifest()).ok());
    flushError = 0;
  }
}

TEST(CheckpointFolder, ItsOwnNameIsFlushed) {
  TestFolder folder;
  flushedFolders = 0;
  // Two folders are new, one in the other.
  ASSERT_TRUE(CheckpointFolder::open(folder.file("a/b")).ok());
  EXPECT_EQ(flushedFolders, 2);
  ASSERT_TRUE(CheckpointFolder::open(folder.file("a/b")).ok());
  EXPECT_EQ(flushedFolders, 2);
  flushError = EIO;
  EXPECT_THAT(CheckpointFolder::open(folder.file("c/")).status().message(),
              HasSubstr("cannot be flushed"));
  flushError = 0;
}

TEST(CheckpointWriter, WithoutACommitThereIsNothing) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  fs::create_directory(folder.file("all"));
  {
    CheckpointWriter writer(folder.file("all/step-000000000001"));
    CheckpointManifest manifest;
    ASSERT_TRUE(saveModel(*model, writer, manifest).ok());
  }
  EXPECT_THAT(filesOf(folder.file("all")), IsEmpty());
  CheckpointWriter nowhere(folder.file("missing/step-000000000001"));
  CheckpointManifest manifest;
  EXPECT_THAT(saveModel(*model, nowhere, manifest).message(),
              HasSubstr("cannot be written"));
}
