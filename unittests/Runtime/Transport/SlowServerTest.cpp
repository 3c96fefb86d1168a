//===- SlowServerTest.cpp - A server that is stopped for a while ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session replaces a connection over which an attempt has taken too long. The
// server may only be slow: then it still reads the requests of the old
// connection. Each request must count exactly once.
//
//===----------------------------------------------------------------------===//

#include "Support/TestServer.h"

#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Transport/GrpcTransport.h"
#include "pdlrt/Transport/LocalTransport.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr const char *addressVariable = "PDL_TEST_SLOW_SERVER_ADDRESS";
constexpr const char *kindVariable = "PDL_TEST_SLOW_SERVER_KIND";

std::unique_ptr<Transport> createTransport(const std::string &kind,
                                           RealClock &clock) {
  return kind == "grpc" ? createGrpcTransport(clock)
                        : createLocalTransport(clock);
}

/// Counts the connections that are opened.
class CountingTransport final : public Transport {
public:
  explicit CountingTransport(std::unique_ptr<Transport> inner)
      : inner(std::move(inner)) {}
  Clock &clock() override { return inner->clock(); }
  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return inner->listen(address, std::move(handler));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    ++connections;
    return inner->connect(address);
  }

  std::atomic<int> connections = 0;

private:
  const std::unique_ptr<Transport> inner;
};

/// A server in a process of its own.
class ServerProcess {
public:
  ServerProcess(const std::string &kind, const std::string &address)
      : number(fork()) {
    if (number != 0)
      return;
    ::setenv(kindVariable, kind.c_str(), 1);
    ::setenv(addressVariable, address.c_str(), 1);
    ::execl("/proc/self/exe", "server", "--gtest_also_run_disabled_tests",
            "--gtest_filter=SlowServerProcess.DISABLED_Serve", nullptr);
    ::_exit(127);
  }
  ~ServerProcess() {
    signal(SIGKILL);
    ::waitpid(number, nullptr, 0);
  }
  ServerProcess(const ServerProcess &) = delete;
  ServerProcess &operator=(const ServerProcess &) = delete;
  void signal(int what) const { ::kill(number, what); }

private:
  const pid_t number;
};

/// Stops and continues a server all the time.
class Stopper {
public:
  explicit Stopper(const ServerProcess &server)
      : thread([this, &server](const std::stop_token &ends) {
          while (!ends.stop_requested()) {
            server.signal(SIGSTOP);
            std::this_thread::sleep_for(Milliseconds(350));
            server.signal(SIGCONT);
            ++stops;
            std::this_thread::sleep_for(Milliseconds(100));
          }
        }) {}

  std::atomic<int> stops = 0;

private:
  std::jthread thread;
};

class SlowServerTest : public testing::TestWithParam<const char *> {};

/// Runs as a process of its own: says how many rounds it has closed and how
/// many other requests it has handled.
TEST(SlowServerProcess, DISABLED_Serve) {
  const char *address = ::getenv(addressVariable);
  if (!address)
    return;
  RealClock clock;
  const std::unique_ptr<Transport> transport =
      createTransport(::getenv(kindVariable), clock);
  ServerCoreOptions options;
  options.trainers = 1;
  options.onFailure = FailurePolicy::Wait;
  options.silenceLimit = ClockTime(0);
  TestServer server(*transport, address, options);
  int handled = 0;
  server.application.answering = [&](const Message &) {
    return Message::ofString(fmt::format(
        "{} rounds, {} others", server.application.rounds.load(), ++handled));
  };
  server.core.waitUntilOver(std::chrono::minutes(1));
  server.core.waitUntilNotified(std::chrono::seconds(5));
}

TEST_P(SlowServerTest, EachRequestCountsOnce) {
  const std::string address =
      fmt::format("unix:@pdl-slow-{}-{}", GetParam(), getpid());
  const ServerProcess server(GetParam(), address);
  RealClock clock;
  CountingTransport transport(createTransport(GetParam(), clock));
  ServerGroupOptions options;
  options.retry.attemptDeadline = Milliseconds(100);
  options.retry.silenceLimit = ClockTime(0);
  const auto group =
      ServerGroup::connect(transport, {address}, {0, 0, 1, 0}, options);
  ASSERT_TRUE(group.ok());
  ASSERT_TRUE((*group)->joinAll({Message::ofString("hello")}).ok());
  const int connectionsBefore = transport.connections;
  Stopper stopper(server);
  constexpr int stops = 8;
  int steps = 0;
  for (; stopper.stops < stops || steps < stops; ++steps) {
    // Long enough to be stopped in the middle of a message.
    const std::string content =
        std::string(size_t(1) << 22, char('a' + steps % 26)) +
        std::to_string(steps);
    const auto step =
        (*group)->sendAll(MessageKind::Exchange, {Message::ofString(content)});
    ASSERT_TRUE(step.ok()) << step.status().message();
    ASSERT_EQ(step->front().toString(), "0 reads " + content);
    const auto counts =
        (*group)->sendAll(MessageKind::Save, {Message::ofString("count")});
    ASSERT_TRUE(counts.ok()) << counts.status().message();
    ASSERT_EQ(counts->front().toString(),
              fmt::format("{} rounds, {} others", steps + 1, steps + 1));
  }
  EXPECT_GT(transport.connections, connectionsBefore)
      << "no connection was replaced";
  (*group)->leaveAll("");
}

INSTANTIATE_TEST_SUITE_P(All, SlowServerTest, testing::Values("local", "grpc"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
