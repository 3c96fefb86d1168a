//===- LoopbackTransportTest.cpp - Own addresses within the process -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/LoopbackTransport.h"
#include "TransportConformance.h"
#include "pdlrt/Transport/LocalTransport.h"

#include <filesystem>
#include <unistd.h>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

/// Loopback transport over a transport that it owns.
class OverOwned final : public Transport {
public:
  explicit OverOwned(std::unique_ptr<Transport> to,
                     std::map<std::string, std::string> aliases = {})
      : inner(std::move(to)),
        loopback(createLoopbackTransport(*inner, std::move(aliases))) {}
  Clock &clock() override { return loopback->clock(); }
  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return loopback->listen(address, std::move(handler));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    return loopback->connect(address);
  }

protected:
  const std::unique_ptr<Transport> inner, loopback;
};

/// Loopback transport with listeners in another process, so that all calls are
/// forwarded.
class ToOthers final : public Transport {
public:
  explicit ToOthers(std::unique_ptr<Transport> to)
      : inner(std::move(to)), loopback(createLoopbackTransport(*inner)) {}
  Clock &clock() override { return inner->clock(); }
  Expected<std::unique_ptr<Listener>> listen(const std::string &address,
                                             RequestHandler handler) override {
    return inner->listen(address, std::move(handler));
  }
  Expected<std::unique_ptr<Connection>>
  connect(const std::string &address) override {
    return loopback->connect(address);
  }

private:
  const std::unique_ptr<Transport> inner, loopback;
};

class ManualEnvironment : public ManualTimeEnvironment {
public:
  Transport &transport() { return network; }

private:
  OverOwned network{createInProcessTransport(clock)};
};

template <typename Network> class RealEnvironment : public RealTimeEnvironment {
public:
  RealEnvironment()
      : RealTimeEnvironment([](RealClock &clock) {
          return std::make_unique<Network>(createLocalTransport(clock));
        }) {}
  std::string newAddress() {
    return "unix:@pdl-loopback-test-" + std::to_string(::getpid()) + "-" +
           std::to_string(next++);
  }

private:
  static inline int next = 0;
};

/// Returns the response to a call to `address`.
std::string ask(Transport &transport, const std::string &address) {
  auto connection = transport.connect(address);
  if (!connection)
    return connection.status().message();
  CallProbe probe;
  (*connection)
      ->call(Message::ofString("?"),
             transport.clock().now() + std::chrono::seconds(20), probe.done());
  while (probe.ends == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return probe.outcome == CallOutcome::Responded ? probe.response : "nobody";
}

RequestHandler answering(const std::string &text) {
  return [text](Message, Responder back) {
    back.respond(Message::ofString(text));
  };
}

} // namespace

namespace pdlrt::test {
using LoopbackEnvironments =
    testing::Types<ManualEnvironment, RealEnvironment<OverOwned>,
                   RealEnvironment<ToOthers>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Loopback, TransportConformance,
                               LoopbackEnvironments);
} // namespace pdlrt::test

TEST(LoopbackTransportTest, OwnCallsShareTheirBytes) {
  RealClock clock;
  const auto local = createLocalTransport(clock);
  const auto loopback = createLoopbackTransport(*local);
  const std::string address =
      "unix:@pdl-loopback-bytes-" + std::to_string(::getpid());
  const void *seen = nullptr;
  auto listener =
      loopback->listen(address, [&](Message request, Responder back) {
        seen = request.slices().front().data;
        back.respond(std::move(request));
      });
  ASSERT_TRUE(listener.ok()) << listener.status().message();
  const Message message = Message::ofString("rows");
  auto call = [&](Transport &over) {
    auto connection = over.connect(address);
    CallProbe probe;
    (*connection)
        ->call(message, clock.now() + std::chrono::seconds(20), probe.done());
    while (probe.ends == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return probe.response;
  };
  EXPECT_EQ(call(*loopback), "rows");
  EXPECT_EQ(seen, message.slices().front().data);
  // Other processes reach it too.
  EXPECT_EQ(call(*local), "rows");
  EXPECT_NE(seen, message.slices().front().data);
}

// A process that listens at all its addresses is recognized by one of them.
TEST(LoopbackTransportTest, AnAliasIsOwn) {
  RealClock clock;
  const std::string bound =
      "unix:@pdl-loopback-bound-" + std::to_string(::getpid());
  const auto local = createLocalTransport(clock);
  const auto loopback =
      createLoopbackTransport(*local, {{"unix:@pdl-known-by", bound}});
  EXPECT_EQ(ask(*loopback, "unix:@pdl-known-by"), "nobody");
  {
    auto listener = loopback->listen(bound, answering("own"));
    ASSERT_TRUE(listener.ok()) << listener.status().message();
    EXPECT_EQ(ask(*loopback, "unix:@pdl-known-by"), "own");
    EXPECT_EQ(ask(*loopback, bound), "own");
  }
  EXPECT_EQ(ask(*loopback, "unix:@pdl-known-by"), "nobody");
  auto taken = local->listen(bound, answering("another process"));
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(ask(*loopback, bound), "another process");
  EXPECT_FALSE(loopback->listen(bound, answering("own")).ok());
}
