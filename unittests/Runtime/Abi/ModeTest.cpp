//===- ModeTest.cpp - Table of modes --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Mode.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>
#include <utility>

using namespace pdlrt;

static constexpr int32_t allModes[] = {
    PDL_MODE_LOCAL,  PDL_MODE_SYNC,       PDL_MODE_ASYNC,  PDL_MODE_HALF_ASYNC,
    PDL_MODE_QUORUM, PDL_MODE_COLLECTIVE, PDL_MODE_HYBRID, PDL_MODE_GEO};

TEST(Mode, EachHasARowAndANameOfItsOwn) {
  std::set<std::string> names;
  for (const int32_t id : allModes) {
    const Mode *mode = findMode(id);
    ASSERT_NE(mode, nullptr) << id;
    EXPECT_EQ(mode->id, id);
    EXPECT_TRUE(names.insert(mode->name).second) << mode->name;
    pdl_descriptor descriptor = {};
    descriptor.mode = id;
    EXPECT_EQ(&modeOf(descriptor), mode);
  }
  EXPECT_EQ(findMode(77), nullptr);
  EXPECT_EQ(findMode(-1), nullptr);
}

TEST(Mode, NamesAreForMessages) {
  EXPECT_EQ(modeName(PDL_MODE_SYNC), "sync");
  EXPECT_EQ(modeName(77), "77");
  EXPECT_EQ(serverModeFlags(),
            "--mode=sync, --mode=async, --mode=half-async, --mode=quorum, "
            "--mode=collective, --mode=hybrid or --mode=geo");
  EXPECT_EQ(findModeNamed("hybrid"), findMode(PDL_MODE_HYBRID));
  EXPECT_EQ(findModeNamed("no such mode"), nullptr);
}

// Counts the senders whose gradients are steps by themselves.
TEST(Mode, SendersAreThoseWhoseGradientsAreSteps) {
  for (const auto &[mode, senders] :
       {std::pair(PDL_MODE_LOCAL, 1), std::pair(PDL_MODE_SYNC, 1),
        std::pair(PDL_MODE_COLLECTIVE, 1), std::pair(PDL_MODE_HYBRID, 1),
        std::pair(PDL_MODE_QUORUM, 1), std::pair(PDL_MODE_GEO, 1),
        std::pair(PDL_MODE_HALF_ASYNC, 3), std::pair(PDL_MODE_ASYNC, 12)})
    EXPECT_EQ(findMode(mode)->senderCount(3, 4), senders)
        << findMode(mode)->name;
}

// Some properties depend on each other: a trainer that does not wait for others
// cannot know the norm of the sum over all.
TEST(Mode, PropertiesFitTogether) {
  for (const int32_t id : allModes) {
    const Mode &mode = *findMode(id);
    if (!mode.hasServers) {
      EXPECT_FALSE(mode.workersSend || mode.restartsContinue ||
                   mode.trainersApply)
          << mode.name;
    }
    if (mode.trainersApply) {
      EXPECT_FALSE(mode.workersSend || mode.stepsAreRounds ||
                   mode.restartsContinue)
          << mode.name;
    }
    EXPECT_NE(mode.sendersFormNorms, mode.stepsAreRounds) << mode.name;
    // If a trainer's state is lost with it, the job cannot wait for the
    // trainer.
    EXPECT_FALSE(mode.trainersOwn() && mode.restartsContinue) << mode.name;
    EXPECT_EQ(mode.hasServers, mode.trainersOwn() || mode.needsServers())
        << mode.name;
  }
}
