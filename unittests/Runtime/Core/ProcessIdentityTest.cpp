//===- ProcessIdentityTest.cpp - Identity of a process --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProcessIdentity.h"

#include "Support/IdleProcess.h"

#include <climits>
#include <cstddef>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

/// Prevents the process from opening files, including those of /proc.
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

TEST(ProcessIdentity, AStoppedProcessIsSuspended) {
  using State = ProcessIdentity::State;
  const IdleProcess process;
  const ProcessIdentity identity = process.identity();
  EXPECT_EQ(identity.state(), State::Alive);
  process.suspend();
  EXPECT_EQ(identity.state(), State::Suspended);
  EXPECT_EQ(identity.describeState(), "process " +
                                          std::to_string(identity.number) +
                                          " of this host is stopped (SIGSTOP)");
  process.end();
  EXPECT_EQ(identity.state(), State::Unknown);
  EXPECT_EQ(identity.describeState(), "");
  EXPECT_EQ(ProcessIdentity().state(), State::Unknown);
}

TEST(ProcessIdentity, WhoIsDeadHasEnded) {
  std::optional<IdleProcess> process(std::in_place);
  const ProcessIdentity identity = process->identity();
  process->end();
  EXPECT_TRUE(identity.hasEnded());
  // After this, the process number may be reused.
  process.reset();
  EXPECT_TRUE(identity.hasEnded());
}

TEST(ProcessIdentity, ANumberThatIsUsedAgainIsOfAnother) {
  ProcessIdentity identity = ProcessIdentity::ofThisProcess();
  --identity.started;
  EXPECT_TRUE(identity.hasEnded());
}

// The files of a process may be hidden, or this process may have no free
// descriptors.
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
  EXPECT_FALSE(elsewhere.watch());
  EXPECT_FALSE(ProcessIdentity().watch());
  EXPECT_FALSE(elsewhere.hasEnded());
}

// The process number is invalid on this side, but the socket of the process
// works.
TEST(ProcessIdentity, TheEndInAnotherContainerIsNoticedByASocket) {
  ProcessIdentity elsewhere = ProcessIdentity::ofThisProcess();
  elsewhere.host ^= 2;
  elsewhere.number = 1;
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string door = elsewhere.door();
  door.copy(address.sun_path + 1, door.size());
  ASSERT_EQ(
      ::bind(socket, reinterpret_cast<const sockaddr *>(&address),
             socklen_t(offsetof(sockaddr_un, sun_path) + 1 + door.size())),
      0);
  EXPECT_TRUE(elsewhere.watch());
  EXPECT_FALSE(elsewhere.hasEnded());
  {
    const NoMoreFiles limit;
    EXPECT_FALSE(elsewhere.hasEnded());
  }
  ::close(socket);
  EXPECT_TRUE(elsewhere.hasEnded());
  EXPECT_FALSE(elsewhere.watch());
}

TEST(ProcessIdentity, ThisProcessHoldsItsSocket) {
  ProcessIdentity copy = ProcessIdentity::ofThisProcess();
  EXPECT_TRUE(copy.watch());
  const std::string door = copy.door();
  std::ifstream sockets("/proc/net/unix");
  std::string all{std::istreambuf_iterator<char>(sockets), {}};
  EXPECT_NE(all.find("@" + door), std::string::npos);
}

} // namespace
