//===- StandardStreamsTest.cpp - Output streams without a reader ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/StandardStreams.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

using namespace pdlrt;

/// Writes until the stream is full, then reads everything and writes again.
static void checkFillsAndGoesOn(int reads, int writes) {
  const int flags = ::fcntl(writes, F_GETFL);
  UnblockedOutput output(writes);
  const std::string some(1000, 'x');
  size_t written = 0;
  ssize_t count = 0;
  while ((count = output.write(some.data(), some.size())) > 0)
    written += size_t(count);
  EXPECT_EQ(count, -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GT(written, 0u);
  // Other writers of the stream still block.
  EXPECT_EQ(::fcntl(writes, F_GETFL), flags);
  std::string all(written, '.');
  for (size_t at = 0; at < written; at += size_t(count)) {
    count = ::read(reads, all.data() + at, written - at);
    ASSERT_GT(count, 0);
  }
  EXPECT_EQ(all, std::string(written, 'x'));
  EXPECT_EQ(output.write("y", 1), 1);
  char last = 0;
  EXPECT_EQ(::read(reads, &last, 1), 1);
  EXPECT_EQ(last, 'y');
}

TEST(UnblockedOutput, APipeThatIsFullTakesNothing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  checkFillsAndGoesOn(ends[0], ends[1]);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(UnblockedOutput, ASocketThatIsFullTakesNothing) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  checkFillsAndGoesOn(ends[0], ends[1]);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(UnblockedOutput, TheReaderThatHasGoneIsAnError) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  UnblockedOutput output(ends[1]);
  ::close(ends[0]);
  EXPECT_EQ(output.write("x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  ::close(ends[1]);
}

// Tests and shells replace descriptors in this way.
TEST(UnblockedOutput, FollowsADescriptorThatIsReplaced) {
  int first[2], second[2];
  ASSERT_EQ(::pipe(first), 0);
  ASSERT_EQ(::pipe(second), 0);
  UnblockedOutput output(first[1]);
  EXPECT_EQ(output.write("a", 1), 1);
  ASSERT_EQ(::dup2(second[1], first[1]), first[1]);
  EXPECT_EQ(output.write("b", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(first[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'a');
  // No descriptor keeps the first pipe open.
  EXPECT_EQ(::read(first[0], &byte, 1), 0);
  EXPECT_EQ(::read(second[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'b');
  for (const int each : {first[0], first[1], second[0], second[1]})
    ::close(each);
}

TEST(StandardStreams, ResultsAndErrorsGoWhereTheStreamsGo) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  std::fputs("a result\n", standardOutput());
  writeError("a message\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a result\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "a message\n");
  EXPECT_FALSE(isOutputUnread());
}
