//===- ClusterFlagsTest.cpp - Flags of a trainer with servers -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/ClusterFlags.h"

#include "Support/HandWrittenProgram.h"

#include <gmock/gmock.h>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;

/// Parses the command line of a trainer in a mode.
static Status take(int32_t mode, const std::string &line,
                   SessionOptions &options) {
  ProgramVariant variant;
  variant.mode = mode;
  variant.role = PDL_ROLE_TRAINER;
  const pdl_descriptor &descriptor = *handWrittenProgram(variant);
  CLI::App command;
  ClusterFlags flags;
  const FlagTable table = {clusterFlags(descriptor, flags)};
  addFlags(command, table);
  command.parse(line);
  const Status status = takeClusterFlags(descriptor, flags, options);
  return status.ok() ? checkOffered(command, table) : status;
}

/// Returns the options from the command line of a trainer.
static DistributedOptions optionsOf(const std::string &line,
                                    int32_t mode = PDL_MODE_SYNC) {
  SessionOptions options;
  const Status status = take(mode, line, options);
  EXPECT_TRUE(status.ok()) << status.message();
  return options.distributed.value_or(DistributedOptions());
}

/// Returns the reason why a command line is refused.
static std::string refusalOf(int32_t mode, const std::string &line) {
  SessionOptions options;
  return take(mode, line, options).message();
}

TEST(ClusterFlags, ASilentServerIsLostUnlessAllWait) {
  using std::chrono::seconds;
  EXPECT_EQ(optionsOf("--servers a:1").silenceLimit, seconds(10));
  EXPECT_FALSE(optionsOf("--servers a:1").mayRejoin);
  EXPECT_EQ(optionsOf("--servers a:1 --silence-limit 3").silenceLimit,
            seconds(3));
  // 0 disables the limit.
  EXPECT_EQ(optionsOf("--servers a:1 --silence-limit 0").silenceLimit,
            ClockTime::zero());
  // A job that waits for trainers also waits for servers, whatever the limit
  // is.
  for (const char *more : {"", " --silence-limit 3"}) {
    const DistributedOptions waits =
        optionsOf(std::string("--servers a:1 --on-failure wait") + more);
    EXPECT_EQ(waits.silenceLimit, ClockTime::zero());
    EXPECT_TRUE(waits.mayRejoin);
  }
}

TEST(ClusterFlags, TrainersThatOwnStateHaveAddresses) {
  SessionOptions options;
  ASSERT_TRUE(take(PDL_MODE_COLLECTIVE,
                   "--trainers 2 --rank 1 --peers unix:a,unix:b", options)
                  .ok());
  EXPECT_THAT(options.distributed->peers, ElementsAre("unix:a", "unix:b"));
  EXPECT_TRUE(options.distributed->servers.empty());
  EXPECT_EQ(options.ownerPlace.address, "unix:b");
  options = {};
  const Status hybrid = take(PDL_MODE_HYBRID,
                             "--trainers 1 --peers 10.0.0.1:7 --bind 0.0.0.0:7 "
                             "--servers unix:s",
                             options);
  ASSERT_TRUE(hybrid.ok()) << hybrid.message();
  EXPECT_EQ(options.ownerPlace.address, "0.0.0.0:7");
  EXPECT_TRUE(options.ownerPlace.isOpenToAll);
  // A single trainer needs no address.
  options = {};
  ASSERT_TRUE(take(PDL_MODE_COLLECTIVE, "--rank 0", options).ok());
  ASSERT_EQ(options.distributed->peers.size(), 1u);
  EXPECT_EQ(options.ownerPlace.address, options.distributed->peers[0]);
}

TEST(ClusterFlags, EachModeHasItsAddresses) {
  for (const char *line : {"", "--trainers 2 --rank 1 --peers unix:a"})
    EXPECT_THAT(
        refusalOf(PDL_MODE_COLLECTIVE, std::string("--servers unix:s ") + line),
        HasSubstr("--servers is not for mode collective"));
  EXPECT_THAT(refusalOf(PDL_MODE_COLLECTIVE, "--trainers 2 --peers unix:a"),
              HasSubstr("--peers has 1 addresses, but the job has 2 trainers"));
  EXPECT_THAT(refusalOf(PDL_MODE_COLLECTIVE, "--trainers 2"),
              HasSubstr("--peers has 0 addresses"));
  EXPECT_THAT(
      refusalOf(PDL_MODE_COLLECTIVE, "--trainers 2 --peers unix:a,unix:a"),
      HasSubstr("--peers names unix:a twice"));
  EXPECT_THAT(refusalOf(PDL_MODE_HYBRID, "--peers unix:a"),
              HasSubstr("--servers is required: in mode hybrid"));
  EXPECT_THAT(
      refusalOf(PDL_MODE_HYBRID, "--peers unix:a --servers unix:b,unix:a"),
      HasSubstr("the list of --servers and --peers names unix:a twice"));
  EXPECT_THAT(refusalOf(PDL_MODE_SYNC, "--servers unix:s --peers unix:a"),
              HasSubstr("in mode sync servers do"));
  EXPECT_THAT(refusalOf(PDL_MODE_COLLECTIVE, "--peers 10.0.0.1:7"),
              HasSubstr("trainer 0 would listen at 10.0.0.1:7, which other "
                        "machines may reach"));
  EXPECT_THAT(refusalOf(PDL_MODE_COLLECTIVE, "--on-failure wait"),
              HasSubstr("--on-failure=wait is not for mode collective"));
}

TEST(ClusterFlags, ExchangesAreOfTrainersThatApplyTheRules) {
  EXPECT_EQ(optionsOf("--servers a:1", PDL_MODE_GEO).geoSteps, 100);
  EXPECT_EQ(optionsOf("--servers a:1 --geo-steps 7", PDL_MODE_GEO).geoSteps, 7);
  SessionOptions options;
  EXPECT_EQ(
      take(PDL_MODE_SYNC, "--servers a:1 --geo-steps 7", options).message(),
      "--geo-steps is for trainers that apply the rules themselves, and "
      "in mode sync servers do; leave it out");
  // A copy of the model may be dumped; a mirror of the servers may not.
  options.dump = "model.safetensors";
  EXPECT_TRUE(take(PDL_MODE_GEO, "--servers a:1", options).ok());
  options.distributed.reset();
  options.groups = 1;
  EXPECT_FALSE(take(PDL_MODE_SYNC, "--servers a:1", options).ok());
}
