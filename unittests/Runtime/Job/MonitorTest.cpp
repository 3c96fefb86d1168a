//===- MonitorTest.cpp - Tests of the monitoring endpoint -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/Monitor.h"

#include "pdlrt/Transport/Address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace pdlrt;

/// Returns a socket that is connected to an endpoint of this host.
static int connectTo(const HttpEndpoint &endpoint) {
  const Expected<Address> address = parseAddress(endpoint.address());
  EXPECT_TRUE(address.ok());
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(address->port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(
      ::connect(socket, reinterpret_cast<sockaddr *>(&name), sizeof(name)), 0);
  return socket;
}

/// Sends bytes and returns all bytes of the response.
static std::string ask(const HttpEndpoint &endpoint, const std::string &bytes) {
  const int socket = connectTo(endpoint);
  EXPECT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            ssize_t(bytes.size()));
  std::string response;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::recv(socket, buffer, sizeof(buffer), 0)) > 0)
    response.append(buffer, size_t(count));
  ::close(socket);
  return response;
}

static std::unique_ptr<HttpEndpoint> startEcho() {
  auto endpoint =
      HttpEndpoint::start("127.0.0.1:0", [](std::string_view path) -> HttpPage {
        return {200, "page " + std::string(path) + "\n"};
      });
  EXPECT_TRUE(endpoint.ok()) << endpoint.status().message();
  return std::move(*endpoint);
}

TEST(HttpEndpointTest, answersGetAndHead) {
  const auto endpoint = startEcho();
  const std::string page =
      ask(*endpoint, "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 ")) << page;
  EXPECT_TRUE(page.ends_with("\r\n\r\npage /metrics\n")) << page;
  EXPECT_NE(page.find("Content-Length: 14\r\n"), std::string::npos) << page;
  EXPECT_NE(page.find("Connection: close\r\n"), std::string::npos) << page;
  const std::string head =
      ask(*endpoint, "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 14\r\n"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST(HttpEndpointTest, refusesOtherRequests) {
  const auto endpoint = startEcho();
  const auto statusOf = [&](const std::string &request) {
    return ask(*endpoint, request).substr(9, 3);
  };
  EXPECT_EQ(statusOf("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), "405");
  EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"), "413");
  EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            "413");
  EXPECT_EQ(statusOf("nonsense\r\n\r\n"), "400");
  EXPECT_EQ(statusOf("GET / HTTP/1.1\r\nA: " + std::string(9000, 'a')), "400");
}

TEST(HttpEndpointTest, boundsConnections) {
  const auto endpoint = startEcho();
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  std::vector<int> silent;
  for (int i = 0; i < 16; ++i)
    silent.push_back(connectTo(*endpoint));
  // One more is closed without a response, perhaps before the request arrives.
  const int more = connectTo(*endpoint);
  (void)::send(more, request.data(), request.size(), MSG_NOSIGNAL);
  char byte = 0;
  EXPECT_LE(::recv(more, &byte, 1, 0), 0);
  ::close(more);
  for (const int socket : silent)
    ::close(socket);
  // The endpoint learns in the background that connections have ended.
  std::string page;
  while (page.empty()) {
    const int socket = connectTo(*endpoint);
    (void)::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    if (::recv(socket, &byte, 1, 0) == 1)
      page = byte;
    ::close(socket);
  }
  EXPECT_EQ(page, "H");
}

TEST(HttpEndpointTest, refusesATakenAddress) {
  const auto endpoint = startEcho();
  const auto other = HttpEndpoint::start(
      endpoint->address(), [](std::string_view) -> HttpPage { return {}; });
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find(endpoint->address()),
            std::string::npos);
  EXPECT_NE(other.status().message().find("give another address"),
            std::string::npos);
}

TEST(MonitorTest, readinessNamesReasonsAndTimes) {
  Readiness readiness;
  EXPECT_EQ(readinessPage(readiness).status, 200u);
  EXPECT_EQ(readinessPage(readiness).body, "ready\n");
  Readiness::Reason reason(readiness);
  reason.set("server a:1: waiting\nfor trainer 1",
             Readiness::Clock::from_time_t(1700000000));
  const HttpPage page = readinessPage(readiness);
  EXPECT_EQ(page.status, 503u);
  EXPECT_TRUE(page.body.starts_with("not ready since 2023-11-14T22:13:20Z ("))
      << page.body;
  EXPECT_TRUE(page.body.ends_with(" s): server a:1: waiting for trainer 1\n"))
      << page.body;
  readiness.fail("the disk is full");
  EXPECT_EQ(readinessPage(readiness).status, 503u);
  EXPECT_EQ(readinessPage(readiness).body, "failed: the disk is full\n");
}
