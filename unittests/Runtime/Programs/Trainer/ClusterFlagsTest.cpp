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

/// Takes the command line of a trainer.
static Status take(const std::string &line, int32_t mode,
                   SessionOptions &options) {
  ProgramVariant variant;
  variant.mode = mode;
  variant.role = PDL_ROLE_TRAINER;
  const pdl_descriptor &descriptor = *handWrittenProgram(variant);
  CLI::App command;
  ClusterFlags flags;
  addClusterFlags(command, descriptor, flags);
  command.parse(line);
  return takeClusterFlags(command, descriptor, flags, options);
}

/// What a trainer makes of its command line.
static DistributedOptions optionsOf(const std::string &line,
                                    int32_t mode = PDL_MODE_SYNC) {
  SessionOptions options;
  const Status status = take(line, mode, options);
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

TEST(ClusterFlags, ExchangesAreOfTrainersThatApplyTheRules) {
  EXPECT_EQ(optionsOf("--servers a:1", PDL_MODE_GEO).geoSteps, 100);
  EXPECT_EQ(optionsOf("--servers a:1 --geo-steps 7", PDL_MODE_GEO).geoSteps, 7);
  SessionOptions options;
  EXPECT_EQ(
      take("--servers a:1 --geo-steps 7", PDL_MODE_SYNC, options).message(),
      "--geo-steps is for trainers that apply the rules themselves, and "
      "in mode sync servers do; leave it out");
  // A copy may be dumped; what is only a mirror may not.
  options.dump = "model.safetensors";
  EXPECT_TRUE(take("--servers a:1", PDL_MODE_GEO, options).ok());
  options.distributed.reset();
  options.groups = 1;
  EXPECT_FALSE(take("--servers a:1", PDL_MODE_SYNC, options).ok());
}
