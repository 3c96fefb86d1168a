//===- InProcessTransportTest.cpp - Connections within one process --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransportConformance.h"

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

class ManualEnvironment : public ManualTimeEnvironment {
public:
  Transport &transport() { return *network; }

private:
  std::unique_ptr<Transport> network = createInProcessTransport(clock);
};

/// Environment in which handlers and completions run on the clock's thread.
class RealEnvironment : public RealTimeEnvironment {
public:
  RealEnvironment() : RealTimeEnvironment(createInProcessTransport) {}
  std::string newAddress() { return "server-" + std::to_string(next++); }

private:
  int next = 0;
};

} // namespace

namespace pdlrt::test {
using InProcessEnvironments =
    testing::Types<ManualEnvironment, RealEnvironment>;
INSTANTIATE_TYPED_TEST_SUITE_P(InProcess, TransportConformance,
                               InProcessEnvironments);
} // namespace pdlrt::test

TEST(InProcessTransportTest, BytesAreShared) {
  ManualClock clock;
  const auto network = createInProcessTransport(clock);
  const void *seen = nullptr;
  auto listener = network->listen("here", [&](Message request, Responder back) {
    seen = request.slices().front().data;
    back.respond(std::move(request));
  });
  ASSERT_TRUE(listener.ok());
  auto connection = network->connect("here");
  ASSERT_TRUE(connection.ok());
  const Message message = Message::ofString("rows");
  const void *answered = nullptr;
  (*connection)
      ->call(message, std::chrono::seconds(1), [&](const CallResult &result) {
        answered = result.response.slices().front().data;
      });
  while (clock.runNext()) {
  }
  EXPECT_EQ(seen, message.slices().front().data);
  EXPECT_EQ(answered, seen);
}

TEST(ClusterTransportTest, AProgramWithoutGrpcSaysSo) {
  RealClock clock;
  const auto network = createClusterTransport(clock);
  ASSERT_FALSE(network.ok());
  EXPECT_NE(network.status().message().find("without gRPC"), std::string::npos);
}
