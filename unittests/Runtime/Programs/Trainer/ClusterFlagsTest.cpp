//===- ClusterFlagsTest.cpp - Flags of a trainer with servers -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/ClusterFlags.h"

#include "Support/HandWrittenProgram.h"

#include <gtest/gtest.h>

using namespace pdlrt;

/// What a trainer makes of its command line.
static DistributedOptions optionsOf(const std::string &line) {
  ProgramVariant variant;
  variant.mode = PDL_MODE_SYNC;
  variant.role = PDL_ROLE_TRAINER;
  const pdl_descriptor &descriptor = *handWrittenProgram(variant);
  CLI::App command;
  ClusterFlags flags;
  SessionOptions options;
  addClusterFlags(command, descriptor, flags);
  command.parse(line);
  const Status status = takeClusterFlags(command, descriptor, flags, options);
  EXPECT_TRUE(status.ok()) << status.message();
  return options.distributed.value_or(DistributedOptions());
}

TEST(ClusterFlags, ASilentServerIsLostUnlessAllWait) {
  using std::chrono::seconds;
  EXPECT_EQ(optionsOf("--servers a:1").silenceLimit, seconds(10));
  EXPECT_FALSE(optionsOf("--servers a:1").mayComeBack);
  EXPECT_EQ(optionsOf("--servers a:1 --silence-limit 3").silenceLimit,
            seconds(3));
  // 0: never.
  EXPECT_EQ(optionsOf("--servers a:1 --silence-limit 0").silenceLimit,
            ClockTime::zero());
  // A job that waits for trainers waits for servers too, whatever the limit.
  for (const char *more : {"", " --silence-limit 3"}) {
    const DistributedOptions waits =
        optionsOf(std::string("--servers a:1 --on-failure wait") + more);
    EXPECT_EQ(waits.silenceLimit, ClockTime::zero());
    EXPECT_TRUE(waits.mayComeBack);
  }
}
