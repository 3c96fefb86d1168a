//===- TablePartsTest.cpp - Parts of tables: memory and files -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/TableParts.h"
#include "Checkpoint/SavedModel.h"
#include "Support/TestFolder.h"
#include "Table/RocksLibrary.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pdlrt;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

// There may be no memory for whole files, or only for some.
TEST(Checkpoint, PartsAreTheSameHoweverTheyAreWritten) {
  TestFolder folder;
  auto model = makeModel(3, 500);
  Scheduler three(3);
  const auto saveAs = [&](const char *name, Scheduler *scheduler,
                          size_t memory) {
    fs::create_directory(folder.file(name));
    CheckpointWriter writer = CheckpointWriter::into(folder.file(name));
    const Status status =
        saveParts(*model, "dense", writer, scheduler, {4096, memory});
    EXPECT_TRUE(status.ok()) << status.message();
    return writer.addedParts();
  };
  const std::vector<CheckpointPart> whole = saveAs("whole", nullptr, 1 << 20);
  ASSERT_GT(whole.size(), size_t(4));
  // The last part is the smallest. A 32nd of the tables is less than a part.
  for (const size_t memory : {size_t(1), size_t(4096), size_t(1) << 20})
    for (Scheduler *scheduler : {static_cast<Scheduler *>(nullptr), &three}) {
      fs::remove_all(folder.file("other"));
      const auto other = saveAs("other", scheduler, memory);
      ASSERT_EQ(other.size(), whole.size());
      EXPECT_EQ(filesOf(folder.file("other")), filesOf(folder.file("whole")));
      for (size_t p = 0; p < whole.size(); ++p) {
        EXPECT_EQ(other[p].file, whole[p].file);
        EXPECT_EQ(other[p].shards, whole[p].shards);
        EXPECT_EQ(other[p].digest, whole[p].digest);
        EXPECT_EQ(folder.read("other/" + other[p].file),
                  folder.read("whole/" + whole[p].file));
      }
    }
}

TEST(Checkpoint, AsManyThreadsWriteAsThereIsMemoryFor) {
  auto model = makeModel(3, 20'000);
  const EmbeddingTable &table = *model->table(SymbolTable);
  const size_t bytesOfRow = table.rowBytes() + sizeof(int64_t);
  for (const size_t bytesInPart : {size_t(1), size_t(20'000)}) {
    std::vector<PlannedPart> parts;
    planTableParts(*model, SymbolTable, bytesInPart, parts);
    ASSERT_GT(parts.size(), size_t(20));
    int64_t most = 0, all = 0;
    for (const PlannedPart &part : parts) {
      most = std::max(most, part.rows);
      all += part.rows;
    }
    EXPECT_EQ(all, table.size());
    // A buffer for the file, and for each row its key and its address.
    const size_t file = size_t(most) * bytesOfRow;
    const size_t whole = file + file / 4 + size_t(most) * sizeof(TableRow);
    EXPECT_EQ(writersFor(*model, parts, 8, 5 * whole), size_t(5));
    EXPECT_EQ(writersFor(*model, parts, 8, 5 * whole - 1), size_t(4));
    EXPECT_EQ(writersFor(*model, parts, 8, 100 * whole), size_t(8));
    EXPECT_EQ(writersFor(*model, parts, 8, whole), size_t(1));
    EXPECT_EQ(writersFor(*model, parts, 8, 0), size_t(1));
    parts.resize(3);
    EXPECT_EQ(writersFor(*model, parts, 8, 100 * whole), size_t(3));
  }
  EXPECT_EQ(writersFor(*model, {}, 8, 100), size_t(0));
}

// Rows that are stored elsewhere are copied before they are written.
TEST(Checkpoint, CopiesOfRowsCountAsMemoryOfWriters) {
  if (const auto library = rocks::openLibrary(); !library)
    GTEST_SKIP() << library.status().message();
  TestFolder folder;
  Model model(*handWrittenProgram({PDL_F32}), 3);
  ASSERT_TRUE(
      model.boundTables({1, Eviction::LeastRecent, folder.file("rows")}).ok());
  EmbeddingTable &table = *model.table(SymbolTable);
  std::vector<int64_t> keys(20'000);
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<void *> rows(keys.size());
  TableScratch scratch;
  int64_t inserted = 0;
  ASSERT_TRUE(table
                  .findOrInsert(int64_t(keys.size()), keys.data(), rows.data(),
                                scratch, inserted)
                  .ok());
  std::vector<PlannedPart> parts;
  planTableParts(model, SymbolTable, 20'000, parts);
  // No part can be read completely; the last one is smaller than the others.
  parts.pop_back();
  const auto least =
      size_t(std::ranges::min_element(parts, {}, &PlannedPart::rows)->rows);
  const size_t file = least * (table.rowBytes() + sizeof(int64_t));
  const size_t whole = file + file / 4 + least * sizeof(TableRow);
  EXPECT_GT(writersFor(model, parts, 8, whole - 1), size_t(1));
  model.spillRestoredRows(SymbolTable, 0, EmbeddingTable::shardCount);
  ASSERT_EQ(table.heldRows(), 0);
  EXPECT_EQ(writersFor(model, parts, 8, whole - 1), size_t(1));
}

// This is not damage, so an older checkpoint must not be used instead.
TEST(Checkpoint, TooManyFilesAreSaidToBe) {
  TestFolder folder;
  auto model = makeModel(3, 5);
  const std::string path = folder.file("all");
  fs::create_directory(path);
  save(*model, path + "/step-000000000012");
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  // Runs in a forked process, because a hard limit cannot be raised again.
  const pid_t child = fork();
  if (child == 0) {
    std::vector<std::string> refused;
    // The manifest has been read and closed. The second part is one file too
    // many.
    const int next = dup(0);
    const rlimit few = {rlim_t(next) + 1, rlim_t(next) + 1};
    close(next);
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
      _exit(2);
    const Status one = Checkpoint::open(path + "/step-000000000012").status();
    const auto found = findNewestCheckpoint(path, refused);
    const bool isSaid = one.message().find("ulimit -n") != std::string::npos &&
                        one.message().find("damaged") == std::string::npos &&
                        found.status().message() == one.message() &&
                        refused.empty();
    _exit(isSaid ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Checkpoint, TheLimitOfFilesIsRaised) {
  TestFolder folder;
  save(*makeModel(3, 5), folder.file("c"));
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);
  close(next);
  const rlimit few = {rlim_t(next) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Status status = Checkpoint::open(folder.file("c")).status();
  EXPECT_TRUE(status.ok()) << status.message();
  setrlimit(RLIMIT_NOFILE, &before);
}

namespace {

/// Number of positional writes that succeed before one fails with ENOSPC;
/// negative: all.
std::atomic<int> writesUntilFull = -1;

} // namespace

extern "C" ssize_t pwrite(int file, const void *bytes, size_t count,
                          off_t offset) {
  if (writesUntilFull >= 0 && writesUntilFull.fetch_sub(1) == 0) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

TEST(CheckpointWriter, AFullDiskUnderOneOfSeveralThreadsIsOneError) {
  TestFolder folder;
  auto model = makeModel(3, 500);
  fs::create_directory(folder.file("all"));
  Scheduler three(3);
  for (const int writes : {0, 1, 4}) {
    CheckpointWriter writer(folder.file("all/step-000000000001"));
    writesUntilFull = writes;
    const std::string message =
        saveParts(*model, "dense.safetensors", writer, &three, {4096})
            .message();
    writesUntilFull = -1;
    const std::string reason = std::strerror(ENOSPC);
    const size_t first = message.find(reason);
    ASSERT_NE(first, std::string::npos) << message;
    EXPECT_EQ(message.find(reason, first + 1), std::string::npos) << message;
    EXPECT_THAT(message, HasSubstr("/table-2-"));
    // The part with parameters has been written before.
    ASSERT_EQ(writer.addedParts().size(), size_t(1));
    EXPECT_EQ(writer.addedParts().front().kind, PartKind::Dense);
  }
  EXPECT_THAT(filesOf(folder.file("all")), IsEmpty());
}
