//===- ProcessIdentityTest.cpp - Which process somebody is ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProcessIdentity.h"

#include "Support/IdleProcess.h"

#include <climits>
#include <gtest/gtest.h>
#include <optional>
#include <sys/resource.h>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

/// No file can be opened meanwhile, not of /proc either.
class NoMoreFiles {
public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before); }
  NoMoreFiles(const NoMoreFiles &) = delete;
  NoMoreFiles &operator=(const NoMoreFiles &) = delete;

private:
  rlimit before = {};
};

TEST(ProcessIdentity, WhoRunsHasNotEnded) {
  const IdleProcess process;
  const ProcessIdentity identity = process.identity();
  EXPECT_TRUE(identity.isOfThisHost());
  EXPECT_FALSE(identity.hasEnded());
  EXPECT_FALSE(ProcessIdentity::ofThisProcess().hasEnded());
  process.end();
}

TEST(ProcessIdentity, WhoIsDeadHasEnded) {
  std::optional<IdleProcess> process(std::in_place);
  const ProcessIdentity identity = process->identity();
  process->end();
  EXPECT_TRUE(identity.hasEnded());
  // Its number is free.
  process.reset();
  EXPECT_TRUE(identity.hasEnded());
}

TEST(ProcessIdentity, ANumberThatIsUsedAgainIsOfAnother) {
  ProcessIdentity identity = ProcessIdentity::ofThisProcess();
  --identity.started;
  EXPECT_TRUE(identity.hasEnded());
}

// Its files may be hidden, or this process may have none left to open.
TEST(ProcessIdentity, WhoCannotBeSeenHasNotEnded) {
  std::optional<IdleProcess> process(std::in_place);
  const ProcessIdentity identity = process->identity();
  const auto hasEndedUnseen = [&] {
    const NoMoreFiles limit;
    return ProcessIdentity::ofProcess(identity.number).host == 0 &&
           identity.hasEnded();
  };
  EXPECT_FALSE(hasEndedUnseen());
  process->end();
  process.reset();
  EXPECT_TRUE(hasEndedUnseen());
}

TEST(ProcessIdentity, OfOthersNothingIsKnown) {
  const IdleProcess process;
  ProcessIdentity elsewhere = process.identity();
  elsewhere.host ^= 2;
  process.end();
  ProcessIdentity noNumber = ProcessIdentity::ofThisProcess();
  for (const uint32_t number : {0U, uint32_t(INT_MAX) + 1, UINT32_MAX}) {
    noNumber.number = number;
    EXPECT_FALSE(noNumber.hasEnded()) << number;
  }
  EXPECT_FALSE(elsewhere.isOfThisHost());
  EXPECT_FALSE(elsewhere.hasEnded());
  EXPECT_FALSE(ProcessIdentity().isOfThisHost());
  EXPECT_FALSE(ProcessIdentity().hasEnded());
}

} // namespace
