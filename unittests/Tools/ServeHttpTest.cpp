//===- ServeHttpTest.cpp - Connections of pdl-serve -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batcher.h"
#include "HttpApi.h"
#include "HttpServer.h"
#include "MemoryBudget.h"
#include "Repository.h"
#include "ServingMetrics.h"
#include "Support/TestFolder.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <new>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
using namespace pdlserve;
using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Memory that runs out
//===----------------------------------------------------------------------===//

/// If true, allocations of all threads except the test's own fail.
static std::atomic<bool> isWithoutMemory{false};
static thread_local bool isOfTest = false;

#ifdef PDL_TEST_REPLACES_NEW
void *operator new(size_t size) {
  if (isWithoutMemory && !isOfTest)
    throw std::bad_alloc();
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}

void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace {

constexpr std::chrono::seconds patience(120);

class ServeHttp : public testing::Test {
protected:
  void SetUp() override { isOfTest = true; }
  void TearDown() override { isWithoutMemory = false; }

  /// Starts a server, and connects `count` clients to it.
  void start(HttpOptions options, size_t count) {
    server = std::make_unique<HttpServer>(api, budget, metrics, options);
    auto taken = server->listen("127.0.0.1:0");
    ASSERT_TRUE(taken.ok()) << taken.status().message();
    port = uint16_t(std::stoi(taken->substr(taken->rfind(':') + 1)));
    server->start();
    for (size_t i = 0; i < count; ++i)
      clients.push_back(connect());
  }
  int connect() const {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr *>(&address),
                        sizeof(address)),
              0);
    return client;
  }
  /// Sends a request. Returns the first bytes of the response; "" if the
  /// connection was closed.
  static std::string ask(int client, const std::string &path = "/v2") {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
    (void)::send(client, request.data(), request.size(), MSG_NOSIGNAL);
    return receive(client);
  }
  static std::string receive(int client) {
    pollfd entry = {client, POLLIN, 0};
    if (::poll(&entry, 1, int(patience.count()) * 1000) <= 0)
      return "nothing came";
    char bytes[4096];
    const ssize_t got = ::recv(client, bytes, sizeof(bytes), 0);
    return {bytes, size_t(std::max<ssize_t>(got, 0))};
  }
  void waitUntil(const std::function<bool()> &holds) {
    const auto end = Clock::now() + patience;
    while (!holds() && Clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(holds());
  }
  double connections() { return metrics.connections(Protocol::Http).value(); }
  ~ServeHttp() override {
    for (const int client : clients)
      ::close(client);
  }

  TestFolder folder;
  ServingMetrics metrics;
  Repository repository{folder.file(""), {}, {}, metrics};
  Batcher batcher{{}, metrics};
  MemoryBudget budget{1 << 24};
  std::atomic<bool> isStopping{false};
  HttpApi api{repository, batcher, budget, metrics, isStopping, {}};
  std::unique_ptr<HttpServer> server;
  uint16_t port = 0;
  std::vector<int> clients;
};

// The connection may belong to any thread.
TEST_F(ServeHttp, TheConnectionThatIsIdleLongestGivesWay) {
  HttpOptions options;
  options.threads = 4;
  options.maxConnections = 6;
  start(options, 6);
  for (const int client : clients) {
    EXPECT_THAT(ask(client), HasSubstr(" 200 "));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  // The first client has sent the latest request.
  EXPECT_THAT(ask(clients[0]), HasSubstr(" 200 "));
  for (size_t i = 0; i < 12; ++i) {
    clients.push_back(connect());
    EXPECT_THAT(ask(clients.back()), HasSubstr(" 200 ")) << i;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_LE(connections(), 6) << i;
  }
  for (size_t i = 1; i < 6; ++i)
    EXPECT_EQ(receive(clients[i]), "") << i;
  // A connection whose request has begun is not closed.
  std::vector<int> begun;
  for (size_t i = 0; i < 6; ++i) {
    begun.push_back(connect());
    clients.push_back(begun.back());
    // The connection is still open.
    EXPECT_THAT(ask(begun.back()), HasSubstr(" 200 "));
    ASSERT_GT(::send(begun.back(), "GET /v2", 7, MSG_NOSIGNAL), 0);
  }
  clients.push_back(connect());
  EXPECT_THAT(receive(clients.back()), HasSubstr(" 503 "));
  for (const int client : begun) {
    ASSERT_GT(::send(client, " HTTP/1.1\r\nHost: a\r\n\r\n", 23, MSG_NOSIGNAL),
              0);
    EXPECT_THAT(receive(client), HasSubstr(" 200 "));
  }
}

TEST_F(ServeHttp, StopsWithoutMemory) {
#ifndef PDL_TEST_REPLACES_NEW
  GTEST_SKIP() << "sanitizers bring their own allocator";
#endif
  HttpOptions options;
  options.threads = 3;
  start(options, 8);
  for (const int client : clients)
    EXPECT_THAT(ask(client), HasSubstr(" 200 "));
  isWithoutMemory = true;
  std::promise<void> stopped;
  std::future<void> isStopped = stopped.get_future();
  // Called by a thread whose allocations fail, too.
  std::thread stopping([&] {
    server->stop();
    isOfTest = true;
    stopped.set_value();
  });
  if (isStopped.wait_for(patience) != std::future_status::ready) {
    ADD_FAILURE() << "the server does not stop";
    std::_Exit(1);
  }
  stopping.join();
  isWithoutMemory = false;
  EXPECT_TRUE(server->waitUntilClosed(Clock::now() + patience));
  for (const int client : clients)
    EXPECT_EQ(receive(client), "");
  EXPECT_EQ(connections(), 0);
  // The listening socket is closed.
  waitUntil([&] {
    const int late = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool isRefused =
        ::connect(late, reinterpret_cast<sockaddr *>(&address),
                  sizeof(address)) != 0;
    ::close(late);
    return isRefused;
  });
}

} // namespace
