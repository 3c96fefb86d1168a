//===- LockFileTest.cpp - Locks that one process holds --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/LockFile.h"

#include "Support/TestFolder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <utility>

using namespace pdlrt;

namespace {

TEST(LockFile, OneHoldsItAndRemovesIt) {
  TestFolder folder;
  const std::string path = folder.write("lock", "of a dead process");
  int reason = -1;
  {
    LockFile held = LockFile::take(path, reason);
    EXPECT_EQ(reason, 0);
    EXPECT_TRUE(held && held.isOwn());
    EXPECT_EQ(folder.read("lock"), "of a dead process");
    EXPECT_EQ(held.write("mine"), 0);
    EXPECT_EQ(folder.read("lock"), "mine");
    EXPECT_FALSE(LockFile::take(path, reason));
    EXPECT_EQ(reason, EWOULDBLOCK);
    LockFile moved = std::move(held);
    EXPECT_FALSE(held);
    EXPECT_TRUE(moved.isOwn());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(LockFile, WhoIsTakenOverRemovesNothing) {
  TestFolder folder;
  const std::string path = folder.file("lock");
  int reason = -1;
  LockFile second;
  {
    LockFile first = LockFile::take(path, reason);
    ASSERT_TRUE(first);
    second = LockFile::takeOver(path, "second", reason);
    EXPECT_EQ(reason, 0);
    EXPECT_TRUE(second && second.isOwn());
    EXPECT_FALSE(first.isOwn());
  }
  EXPECT_EQ(folder.read("lock"), "second");
  EXPECT_FALSE(LockFile::take(path, reason));
  EXPECT_EQ(reason, EWOULDBLOCK);
}

TEST(LockFile, WhatIsLeftStays) {
  TestFolder folder;
  const std::string path = folder.file("lock");
  int reason = -1;
  LockFile held = LockFile::take(path, reason);
  held.leave();
  EXPECT_FALSE(held);
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(LockFile::take(path, reason));
}

TEST(LockFile, WhatIsWrittenInPartIsAnError) {
  TestFolder folder;
  int reason = -1;
  const LockFile held = LockFile::take(folder.file("lock"), reason);
  ASSERT_TRUE(held);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = 3;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  errno = 0;
  EXPECT_EQ(held.write("12345"), ENOSPC);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
}

TEST(LockFile, WhyItCannotBeTaken) {
  TestFolder folder;
  int reason = 0;
  EXPECT_FALSE(LockFile::take(folder.file("absent/lock"), reason));
  EXPECT_EQ(reason, ENOENT);
  EXPECT_FALSE(LockFile::takeOver(folder.file("absent/lock"), "", reason));
  EXPECT_EQ(reason, ENOENT);
}

} // namespace
