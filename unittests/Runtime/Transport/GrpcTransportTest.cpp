//===- GrpcTransportTest.cpp - Processes over gRPC ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransportConformance.h"

#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/GrpcTransport.h"
#include "pdlrt/Transport/SealedTransport.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

/// Returns a port that was free when it was checked.
std::string freeTcpAddress(Transport &transport) {
  auto listener = transport.listen("127.0.0.1:0",
                                   [](const Message &, const Responder &) {});
  return listener.ok() ? (*listener)->address() : "";
}

class GrpcEnvironment : public RealTimeEnvironment {
public:
  GrpcEnvironment()
      : RealTimeEnvironment(
            [](RealClock &clock) { return createGrpcTransport(clock); }) {}
};

class TcpEnvironment : public GrpcEnvironment {
public:
  std::string newAddress() { return freeTcpAddress(transport()); }
};

/// A transport with seals.
class SealedEnvironment : public RealTimeEnvironment {
public:
  static constexpr size_t front = envelopeSize;
  SealedEnvironment()
      : RealTimeEnvironment([](RealClock &clock) {
          return createSealedTransport(createGrpcTransport(clock),
                                       {PeerRole::Member, "open sesame"});
        }) {}
  std::string newAddress() { return freeTcpAddress(transport()); }
};

class UnixEnvironment : public GrpcEnvironment {
public:
  UnixEnvironment() { folder = ::mkdtemp(pattern); }
  ~UnixEnvironment() { std::filesystem::remove_all(folder); }
  std::string newAddress() {
    return "unix:" + folder + "/" + std::to_string(next++);
  }

private:
  char pattern[32] = "/tmp/pdl-grpc-test-XXXXXX";
  std::string folder;
  int next = 0;
};

class AbstractEnvironment : public GrpcEnvironment {
public:
  std::string newAddress() {
    return "unix:@pdl-grpc-test-" + std::to_string(::getpid()) + "-" +
           std::to_string(next++);
  }

private:
  int next = 0;
};

} // namespace

namespace pdlrt::test {
using GrpcEnvironments = testing::Types<TcpEnvironment, UnixEnvironment,
                                        AbstractEnvironment, SealedEnvironment>;
INSTANTIATE_TYPED_TEST_SUITE_P(Grpc, TransportConformance, GrpcEnvironments);
} // namespace pdlrt::test

namespace {

/// Returns bytes that depend on their position.
std::shared_ptr<const std::string> pattern(size_t size, unsigned seed) {
  auto content = std::make_shared<std::string>(size, '\0');
  for (size_t i = 0; i < size; ++i)
    (*content)[i] = static_cast<char>((i >> 3) * 2654435761u >> 13) ^ seed;
  return content;
}

MessageSlice sliceOf(const std::shared_ptr<const std::string> &content) {
  return {reinterpret_cast<const std::byte *>(content->data()), content->size(),
          content};
}

TEST(GrpcTransportTest, MessagesOfManyChunksAndSlices) {
  RealClock clock;
  const auto network = createGrpcTransport(clock);
  const auto listener =
      network->listen("127.0.0.1:0", [](Message request, Responder responder) {
        responder.respond(std::move(request));
      });
  ASSERT_TRUE(listener.ok());
  const auto connection = network->connect((*listener)->address());
  ASSERT_TRUE(connection.ok());
  // Sizes around the limit for joining, and around the end of a chunk.
  Message request;
  std::vector<std::weak_ptr<const std::string>> owners;
  for (const size_t size : {size_t(1), size_t(7), size_t(2048), size_t(2049),
                            size_t(0), size_t(5), (size_t(64) << 20) - 4110,
                            size_t(1), size_t(100000), size_t(70) << 20}) {
    const auto content = pattern(size, static_cast<unsigned>(owners.size()));
    owners.push_back(content);
    request.append(sliceOf(content));
  }
  const std::string expected = request.toString();
  std::atomic<bool> ended{false}, equal{false};
  (*connection)
      ->call(std::exchange(request, {}), clock.now() + std::chrono::minutes(1),
             [&](const CallResult &result) {
               equal = result.outcome == CallOutcome::Responded &&
                       result.response.toString() == expected;
               ended = true;
             });
  const ClockTime giveUp = clock.now() + std::chrono::minutes(1);
  while (!ended && clock.now() < giveUp)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_TRUE(ended);
  EXPECT_TRUE(equal);
  // The request's bytes are released.
  const auto released = [&] {
    return std::all_of(owners.begin(), owners.end(),
                       [](const auto &owner) { return owner.expired(); });
  };
  while (!released() && clock.now() < giveUp)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(released());
}

TEST(GrpcTransportTest, OfManyAtOnceOneReplacesAStaleSocket) {
  char pattern[] = "/tmp/pdl-grpc-test-XXXXXX";
  const std::string folder = ::mkdtemp(pattern), path = folder + "/stale";
  for (int round = 0; round < 20; ++round) {
    const int stale = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    ASSERT_EQ(::bind(stale, reinterpret_cast<sockaddr *>(&name), sizeof(name)),
              0);
    ::close(stale);
    constexpr int count = 4;
    std::barrier together(count);
    std::atomic<int> listening{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&] {
        RealClock clock;
        const auto network = createGrpcTransport(clock);
        together.arrive_and_wait();
        const auto listener = network->listen(
            "unix:" + path, [](const Message &, const Responder &) {});
        listening += listener.ok();
        if (!listener.ok())
          EXPECT_NE(
              listener.status().message().find("another process listens there"),
              std::string::npos)
              << listener.status().message();
        // Releases nothing before all threads have tried.
        together.arrive_and_wait();
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(listening, 1);
    // No file is left next to the socket.
    std::filesystem::remove(path);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  std::filesystem::remove_all(folder);
}

TEST(GrpcTransportTest, AProgramFindsItWhereItIsLinked) {
  RealClock clock;
  EXPECT_TRUE(createClusterTransport(clock).ok());
}

} // namespace
