//===- FileCacheTest.cpp - Tests of copies of stored files ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/FileCache.h"

#include "Files/RunningDigest.h"
#include "Support/TestFolder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace pdlrt;
namespace fs = std::filesystem;

namespace {

/// The stored files are files of this host, which are a store too.
class FileCacheTest : public testing::Test {
protected:
  StoredFileInfo put(const std::string &name, const std::string &content) {
    const std::string path = folder.write(name, content);
    auto found = localStore().find(path);
    return found && *found ? **found : StoredFileInfo();
  }
  std::unique_ptr<FileCache> open(uint64_t maxBytes) {
    auto cache = FileCache::open((root / "cache").string(), maxBytes);
    EXPECT_TRUE(cache) << cache.status().message();
    return cache ? *std::move(cache) : nullptr;
  }
  static std::string contentOf(const std::string &path) {
    return *readStoredFile(path, uint64_t(1) << 30);
  }
  size_t copies() const {
    const fs::directory_iterator all(root / "cache" / "files");
    return size_t(std::distance(all, fs::directory_iterator()));
  }

  TestFolder folder;
  const fs::path root = folder.file("");
};

FileDigest digestOf(const std::string &content) {
  RunningDigest digest;
  digest.add(content.data(), content.size());
  return digest.digest();
}

TEST_F(FileCacheTest, DownloadsEachVersionOnce) {
  const std::string content(3 << 20, 'x');
  const StoredFileInfo info = put("a", content);
  const auto cache = open(10 << 20);
  const auto first = cache->fetch(info, digestOf(content));
  ASSERT_TRUE(first) << first.status().message();
  EXPECT_EQ(contentOf((*first)->path()), content);
  // The copy is used although the file is gone.
  fs::remove(info.path);
  const auto second = cache->fetch(info);
  ASSERT_TRUE(second) << second.status().message();
  EXPECT_EQ((*second)->path(), (*first)->path());
  EXPECT_EQ(copies(), 1U);
  EXPECT_EQ(cache->usedBytes(), content.size());
}

TEST_F(FileCacheTest, EvictsTheCopyThatWasNotUsedForLongest) {
  const StoredFileInfo a = put("a", std::string(40, 'a')),
                       b = put("b", std::string(40, 'b')),
                       c = put("c", std::string(40, 'c'));
  const auto cache = open(100);
  std::string pathOfA, pathOfB;
  {
    const auto copyOfA = cache->fetch(a), copyOfB = cache->fetch(b);
    ASSERT_TRUE(copyOfA && copyOfB);
    pathOfA = (*copyOfA)->path();
    pathOfB = (*copyOfB)->path();
    // Both are in use.
    const auto refused = cache->fetch(c);
    EXPECT_EQ(refused.status().code(), PDL_RESOURCE_EXHAUSTED);
    EXPECT_NE(refused.status().message().find("make the cache larger"),
              std::string::npos);
  }
  ASSERT_TRUE(cache->fetch(a));
  ASSERT_TRUE(cache->fetch(c));
  EXPECT_TRUE(fs::exists(pathOfA));
  EXPECT_FALSE(fs::exists(pathOfB));
  EXPECT_EQ(cache->usedBytes(), 80U);
}

TEST_F(FileCacheTest, KeepsNoCopyOfWrongContent) {
  const StoredFileInfo info = put("a", "content");
  const auto cache = open(100);
  EXPECT_EQ(cache->fetch(info, digestOf("CONTENT")).status().code(),
            PDL_DATA_LOSS);
  EXPECT_EQ(copies(), 0U);
  EXPECT_EQ(cache->usedBytes(), 0U);
  auto copy = cache->fetch(info, digestOf("content"));
  ASSERT_TRUE(copy);
  (*copy)->discard();
  EXPECT_EQ(copies(), 1U);
  copy = Status::internal("");
  EXPECT_EQ(copies(), 0U);
}

TEST_F(FileCacheTest, ALaterProcessVerifiesCopies) {
  const StoredFileInfo a = put("a", "content of a"), b = put("b", "bbbb");
  std::string path;
  {
    const auto cache = open(100);
    path = (*cache->fetch(a))->path();
    ASSERT_TRUE(cache->fetch(b));
    EXPECT_EQ(FileCache::open((root / "cache").string(), 100).status().code(),
              PDL_FAILED_PRECONDITION);
  }
  std::ofstream(path) << "Content of a";
  std::ofstream(root / "cache" / "files" / (std::string(32, 'a') + ".part"))
      << "incomplete";
  fs::remove(b.path);
  const auto cache = open(100);
  EXPECT_EQ(copies(), 2U);
  const auto again = cache->fetch(a);
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_EQ(contentOf((*again)->path()), "content of a");
  EXPECT_TRUE(cache->fetch(b));
}

TEST_F(FileCacheTest, ADamagedCopyOfAnotherLengthCountsAsItIs) {
  const StoredFileInfo a = put("a", "content of a");
  std::string path;
  {
    const auto cache = open(100);
    path = (*cache->fetch(a))->path();
  }
  std::ofstream(path).flush();
  const auto cache = open(100);
  EXPECT_EQ(cache->usedBytes(), 0U);
  const auto again = cache->fetch(a);
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_EQ(contentOf((*again)->path()), "content of a");
  EXPECT_EQ(cache->usedBytes(), 12U);
}

TEST_F(FileCacheTest, AFolderWithOtherFilesIsRefused) {
  folder.write("models", "of a user");
  const auto refused = FileCache::open(root.string(), 100);
  EXPECT_EQ(refused.status().code(), PDL_FAILED_PRECONDITION);
  EXPECT_TRUE(fs::exists(root / "models"));
  EXPECT_FALSE(fs::exists(root / "files"));
}

TEST_F(FileCacheTest, OtherFilesInACacheAreLeftAlone) {
  (void)open(100);
  const fs::path mine = root / "cache" / "files" / "notes.txt";
  std::ofstream(mine) << "of a user";
  (void)open(100);
  EXPECT_TRUE(fs::exists(mine));
}

TEST_F(FileCacheTest, ASmallerCacheEvictsAtItsStart) {
  const StoredFileInfo a = put("a", "content of a"), b = put("b", "bbbb");
  {
    const auto cache = open(100);
    const auto copyOfA = cache->fetch(a);
    ASSERT_TRUE(copyOfA && cache->fetch(b));
    // The system's clock of files may give both uses the same time.
    const timespec times[2] = {{1, 0}, {0, UTIME_OMIT}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (*copyOfA)->path().c_str(), times, 0), 0);
  }
  EXPECT_EQ(open(12)->usedBytes(), 4U);
}

TEST_F(FileCacheTest, CancelsADownload) {
  const StoredFileInfo info = put("a", "content");
  const auto cache = open(100);
  const std::atomic<bool> cancel{true};
  EXPECT_EQ(cache->fetch(info, std::nullopt, &cancel).status().code(),
            PDL_CANCELLED);
  EXPECT_EQ(copies(), 0U);
  EXPECT_TRUE(cache->fetch(info));
}

} // namespace
