//===- TransportConformance.h - Tests for every transport -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One suite for all transports. An environment has a default constructor and
//
//   Transport &transport();
//   std::string newAddress();          // free to listen at, another each time
//   bool waitFor(std::function<bool()>);  // lets time pass; false: too long
//   static constexpr size_t front;     // of a request that a screen sees
//
// and INSTANTIATE_TYPED_TEST_SUITE_P(Name, TransportConformance, Environment).
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_TRANSPORT_TRANSPORTCONFORMANCE_H
#define PDL_UNITTESTS_RUNTIME_TRANSPORT_TRANSPORTCONFORMANCE_H

#include "pdlrt/Transport/Transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace pdlrt::test {

/// End of a call, as seen by the test's thread.
struct CallProbe {
  std::atomic<int> ends{0};
  CallOutcome outcome = CallOutcome::Responded;
  std::string response;

  CallDone done() {
    return [this](const CallResult &result) {
      outcome = result.outcome;
      response = result.response.toString();
      ++ends;
    };
  }
};

/// Common part of environments whose transports have their own threads: time
/// passes by itself.
class RealTimeEnvironment {
public:
  Transport &transport() { return *network; }
  bool waitFor(const std::function<bool()> &condition) {
    const ClockTime giveUp = clock.now() + std::chrono::seconds(20);
    while (!condition()) {
      if (clock.now() > giveUp)
        return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  static constexpr size_t front = minFront;

protected:
  using Factory = std::function<std::unique_ptr<Transport>(RealClock &clock)>;
  explicit RealTimeEnvironment(const Factory &create)
      : network(create(clock)) {}

private:
  RealClock clock;
  std::unique_ptr<Transport> network;
};

/// Common part of environments whose transports run on one thread: time passes
/// while the test waits.
class ManualTimeEnvironment {
public:
  std::string newAddress() { return "server-" + std::to_string(next++); }
  bool waitFor(const std::function<bool()> &condition) {
    while (!condition())
      if (!clock.runNext())
        return false;
    return true;
  }

  static constexpr size_t front = minFront;

protected:
  ManualClock clock;

private:
  int next = 0;
};

template <typename Environment>
class TransportConformance : public testing::Test {
protected:
  using Milliseconds = std::chrono::milliseconds;

  std::unique_ptr<Listener> listen(const std::string &address,
                                   RequestHandler handler) {
    auto listener = transport().listen(address, std::move(handler));
    EXPECT_TRUE(listener.ok()) << listener.status().message();
    return listener.ok() ? std::move(*listener) : nullptr;
  }
  std::unique_ptr<Connection> connect(const std::string &address) {
    auto connection = transport().connect(address);
    EXPECT_TRUE(connection.ok()) << connection.status().message();
    return connection.ok() ? std::move(*connection) : nullptr;
  }
  static RequestHandler echo() {
    return [](Message request, Responder responder) {
      responder.respond(std::move(request));
    };
  }
  Transport &transport() { return environment.transport(); }
  ClockTime in(Milliseconds delay) { return transport().clock().now() + delay; }
  bool ended(CallProbe &probe) {
    return environment.waitFor([&] { return probe.ends > 0; });
  }
  void passTime(Milliseconds delay) {
    const ClockTime until = in(delay);
    transport().clock().runAt(until, [] {});
    EXPECT_TRUE(environment.waitFor(
        [&] { return transport().clock().now() >= until; }));
  }

  Environment environment;
};

TYPED_TEST_SUITE_P(TransportConformance);

TYPED_TEST_P(TransportConformance, RespondsWithTheHandlersBytes) {
  const std::string address = this->environment.newAddress();
  const auto listener = this->listen(address, this->echo());
  EXPECT_EQ(listener->address(), address);
  const auto connection = this->connect(address);
  const std::string owned = "across";
  Message request = Message::ofString(std::string("zero \0 byte ", 12));
  request.append(
      {reinterpret_cast<const std::byte *>(owned.data()), owned.size(), {}});
  CallProbe probe;
  connection->call(request, this->in(std::chrono::seconds(10)), probe.done());
  ASSERT_TRUE(this->ended(probe));
  EXPECT_EQ(probe.outcome, CallOutcome::Responded);
  EXPECT_EQ(probe.response, std::string("zero \0 byte across", 18));
}

TYPED_TEST_P(TransportConformance, CarriesEmptyAndLargeMessages) {
  const std::string address = this->environment.newAddress();
  const auto listener = this->listen(address, this->echo());
  const auto connection = this->connect(address);
  for (const size_t size : {size_t(0), size_t(1), size_t(24) << 20}) {
    std::string content(size, 'x');
    for (size_t i = 0; i < size; i += 4093)
      content[i] = static_cast<char>(i / 4093);
    CallProbe probe;
    connection->call(Message::ofString(content),
                     this->in(std::chrono::seconds(10)), probe.done());
    ASSERT_TRUE(this->ended(probe));
    EXPECT_EQ(probe.outcome, CallOutcome::Responded);
    EXPECT_TRUE(probe.response == content) << size;
  }
}

TYPED_TEST_P(TransportConformance, NeverEndsACallWithinIt) {
  const auto connection = this->connect(this->environment.newAddress());

  CallProbe probe;
  std::atomic<bool> within{false};
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> calling{true};
  connection->call({}, ClockTime(0), [&](CallResult result) {
    within = calling && std::this_thread::get_id() == caller;
    probe.done()(std::move(result));
  });
  calling = false;
  ASSERT_TRUE(this->ended(probe));
  EXPECT_FALSE(within);
}

TYPED_TEST_P(TransportConformance, MatchesResponsesToCalls) {
  const std::string address = this->environment.newAddress();
  std::mutex mutex;
  std::vector<std::pair<std::string, Responder>> waiting;
  std::atomic<size_t> arrived{0};
  const auto listener =
      this->listen(address, [&](const Message &request, Responder responder) {
        const std::lock_guard lock(mutex);
        waiting.emplace_back(request.toString(), std::move(responder));
        ++arrived;
      });
  const auto connection = this->connect(address);
  CallProbe probes[50];
  for (int i = 0; i < 50; ++i)
    connection->call(Message::ofString(std::to_string(i)),
                     this->in(std::chrono::seconds(10)), probes[i].done());
  ASSERT_TRUE(this->environment.waitFor([&] { return arrived == 50; }));
  // Responses are sent later and in reverse order, outside the handler.
  for (size_t i = 50; i-- > 0;)
    waiting[i].second.respond(Message::ofString("re " + waiting[i].first));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(this->ended(probes[i]));
    EXPECT_EQ(probes[i].response, "re " + std::to_string(i));
  }
}

TYPED_TEST_P(TransportConformance, ConnectsOnceAServerListens) {
  const std::string address = this->environment.newAddress();
  const auto connection = this->connect(address);
  CallProbe early;
  connection->call({}, this->in(std::chrono::seconds(1)), early.done());
  ASSERT_TRUE(this->ended(early));
  EXPECT_NE(early.outcome, CallOutcome::Responded);
  const auto listener = this->listen(address, this->echo());
  // A refused connection is retried, perhaps after a pause.
  for (int attempt = 0; attempt < 20; ++attempt) {
    CallProbe probe;
    connection->call({}, this->in(std::chrono::seconds(1)), probe.done());
    ASSERT_TRUE(this->ended(probe));
    if (probe.outcome == CallOutcome::Responded)
      return;
    this->passTime(std::chrono::milliseconds(200));
  }
  FAIL() << "the connection was not made anew";
}

TYPED_TEST_P(TransportConformance, DeadlineEndsACall) {
  const std::string address = this->environment.newAddress();
  std::mutex mutex;
  std::vector<Responder> held;
  const auto listener =
      this->listen(address, [&](const Message &, Responder back) {
        const std::lock_guard lock(mutex);
        held.push_back(std::move(back));
      });
  const auto connection = this->connect(address);
  CallProbe probe;
  const ClockTime deadline = this->in(std::chrono::milliseconds(50));
  connection->call({}, deadline, probe.done());
  ASSERT_TRUE(this->ended(probe));
  EXPECT_EQ(probe.outcome, CallOutcome::DeadlineExceeded);
  EXPECT_GE(this->transport().clock().now(), deadline);
  // A late response is lost and has no effect.
  {
    const std::lock_guard lock(mutex);
    for (Responder &back : held)
      back.respond(Message::ofString("late"));
  }
  this->passTime(std::chrono::milliseconds(20));
  EXPECT_EQ(probe.ends, 1);
}

TYPED_TEST_P(TransportConformance, ARequestLetGoIsUnavailable) {
  const std::string address = this->environment.newAddress();
  const auto listener =
      this->listen(address, [](const Message &, const Responder &) {});
  const auto connection = this->connect(address);
  CallProbe probe;
  connection->call({}, this->in(std::chrono::seconds(10)), probe.done());
  ASSERT_TRUE(this->ended(probe));
  EXPECT_EQ(probe.outcome, CallOutcome::Unavailable);
}

TYPED_TEST_P(TransportConformance, AStoppedListenerEndsItsCalls) {
  const std::string address = this->environment.newAddress();
  std::mutex mutex;
  std::vector<Responder> held;
  std::atomic<int> arrived{0};
  auto listener = this->listen(address, [&](const Message &, Responder back) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(back));
    ++arrived;
  });
  const auto connection = this->connect(address);
  CallProbe probe;
  connection->call({}, this->in(std::chrono::seconds(10)), probe.done());
  ASSERT_TRUE(this->environment.waitFor([&] { return arrived == 1; }));
  listener.reset();
  ASSERT_TRUE(this->ended(probe));
  EXPECT_EQ(probe.outcome, CallOutcome::Unavailable);
  held.front().respond(Message::ofString("too late"));
  this->passTime(std::chrono::milliseconds(20));
  EXPECT_EQ(probe.ends, 1);
  // The address is free again.
  EXPECT_NE(this->listen(address, this->echo()), nullptr);
}

TYPED_TEST_P(TransportConformance, AClosedConnectionEndsItsCalls) {
  const std::string address = this->environment.newAddress();
  std::mutex mutex;
  std::vector<Responder> held;
  std::atomic<int> arrived{0};
  const auto listener =
      this->listen(address, [&](const Message &, Responder back) {
        const std::lock_guard lock(mutex);
        held.push_back(std::move(back));
        ++arrived;
      });
  auto connection = this->connect(address);
  CallProbe probe;
  connection->call({}, this->in(std::chrono::seconds(10)), probe.done());
  ASSERT_TRUE(this->environment.waitFor([&] { return arrived == 1; }));
  connection.reset();
  EXPECT_EQ(probe.ends, 1);
  EXPECT_EQ(probe.outcome, CallOutcome::Unavailable);
}

TYPED_TEST_P(TransportConformance, BadAddressesAreErrors) {
  const std::string address = this->environment.newAddress();
  const auto listener = this->listen(address, this->echo());
  const auto second = this->transport().listen(address, this->echo());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find(address), std::string::npos);
  EXPECT_FALSE(this->transport().listen("", this->echo()).ok());
  EXPECT_FALSE(this->transport().connect("").ok());
}

TYPED_TEST_P(TransportConformance, AScreenRespondsForTheHandler) {
  const std::string address = this->environment.newAddress();
  std::atomic<int> wrong{0};
  const auto listener = this->listen(
      address,
      RequestHandler(
          [](Message request, Responder responder) {
            responder.respond(std::move(request));
          },
          [&](const Message &front, uint64_t size) -> std::optional<Message> {
            const std::string text = front.toString();
            wrong += text.size() > size ||
                     text.size() < std::min<uint64_t>(TypeParam::front, size);
            return text.starts_with("no")
                       ? std::optional(Message::ofString("out"))
                       : std::nullopt;
          }));
  const auto connection = this->connect(address);
  // Sizes around those that a transport may show at once.
  for (const size_t size :
       {2, 39, 40, 41, 79, 80, 81, 8191, 8192, 8193, 200000})
    for (const char *begin : {"no", "on"}) {
      const std::string text = begin + std::string(size - 2, 'x');
      CallProbe probe;
      connection->call(Message::ofString(text),
                       this->in(std::chrono::seconds(10)), probe.done());
      ASSERT_TRUE(this->ended(probe));
      EXPECT_EQ(probe.outcome, CallOutcome::Responded);
      EXPECT_EQ(probe.response, text.starts_with("no") ? "out" : text);
    }
  EXPECT_EQ(wrong, 0);
}

REGISTER_TYPED_TEST_SUITE_P(
    TransportConformance, AScreenRespondsForTheHandler,
    RespondsWithTheHandlersBytes, CarriesEmptyAndLargeMessages,
    NeverEndsACallWithinIt, MatchesResponsesToCalls, ConnectsOnceAServerListens,
    DeadlineEndsACall, ARequestLetGoIsUnavailable, AStoppedListenerEndsItsCalls,
    AClosedConnectionEndsItsCalls, BadAddressesAreErrors);

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_TRANSPORT_TRANSPORTCONFORMANCE_H
