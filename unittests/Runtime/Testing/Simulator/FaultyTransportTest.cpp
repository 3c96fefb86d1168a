//===- FaultyTransportTest.cpp - A network with random faults -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/FaultyTransport.h"

#include "Transport/TransportConformance.h"
#include <algorithm>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

/// Environment of a transport without faults, which must behave like every
/// transport.
class FaultlessEnvironment : public ManualTimeEnvironment {
public:
  Transport &transport() { return *network; }

private:
  FaultCounts counts;
  std::unique_ptr<Transport> inner = createInProcessTransport(clock);
  std::unique_ptr<Transport> network =
      createFaultyTransport(*inner, {}, 1, counts);
};

/// 1,000 calls, one per millisecond, with a deadline of 2 s each.
struct Traffic {
  std::vector<int> handled;
  std::vector<int> outcomes = std::vector<int>(1000, -1);
  int ends = 0;
  FaultCounts counts;

  Traffic(const FaultRates &rates, uint64_t seed) {
    ManualClock clock;
    const auto inner = createInProcessTransport(clock);
    const auto network = createFaultyTransport(*inner, rates, seed, counts);
    auto listener = network->listen("s", [&](Message request, Responder back) {
      handled.push_back(std::stoi(request.toString()));
      back.respond(std::move(request));
    });
    EXPECT_TRUE(listener.ok());
    auto connection = network->connect("s");
    EXPECT_TRUE(connection.ok());
    for (int i = 0; i < 1000; ++i)
      clock.runAt(std::chrono::milliseconds(i), [&, i] {
        (*connection)
            ->call(Message::ofString(std::to_string(i)),
                   clock.now() + std::chrono::seconds(2),
                   [&, i](CallResult result) {
                     outcomes[size_t(i)] = static_cast<int>(result.outcome);
                     ++ends;
                   });
      });
    clock.advanceTo(std::chrono::seconds(10));
  }
  int64_t count(CallOutcome outcome) const {
    return std::count(outcomes.begin(), outcomes.end(),
                      static_cast<int>(outcome));
  }
};

TEST(FaultyTransportTest, ASeedIsASchedule) {
  const FaultRates rates = {100, 200, std::chrono::milliseconds(100), 100, 20};
  const Traffic first(rates, 5);
  const Traffic again(rates, 5);
  const Traffic other(rates, 6);
  EXPECT_EQ(first.handled, again.handled);
  EXPECT_EQ(first.outcomes, again.outcomes);
  EXPECT_NE(first.handled, other.handled);
  EXPECT_EQ(first.ends, 1000);
}

TEST(FaultyTransportTest, DropsEndByDeadline) {
  FaultRates rates;
  rates.drop = 200;
  const Traffic run(rates, 1);
  EXPECT_EQ(run.ends, 1000);
  EXPECT_EQ(uint64_t(run.count(CallOutcome::DeadlineExceeded)),
            run.counts.drops);
  // Lost requests are never handled; requests with lost responses are.
  EXPECT_LT(run.handled.size(), 1000u);
  EXPECT_GT(int64_t(run.handled.size()), run.count(CallOutcome::Responded));
}

TEST(FaultyTransportTest, DuplicatesAreHandledTwiceAndEndOnce) {
  FaultRates rates;
  rates.duplicate = 300;
  const Traffic run(rates, 1);
  EXPECT_GT(run.counts.duplicates, 200u);
  EXPECT_EQ(run.handled.size(), 1000 + run.counts.duplicates);
  EXPECT_EQ(run.ends, 1000);
  EXPECT_EQ(run.count(CallOutcome::Responded), 1000);
}

TEST(FaultyTransportTest, DelaysReorder) {
  FaultRates rates;
  rates.delay = 300;
  const Traffic run(rates, 1);
  EXPECT_EQ(run.handled.size(), 1000u);
  EXPECT_FALSE(std::is_sorted(run.handled.begin(), run.handled.end()));
  EXPECT_EQ(run.count(CallOutcome::Responded), 1000);
}

TEST(FaultyTransportTest, DisconnectsEndCallsThatAreHandled) {
  FaultRates rates;
  rates.disconnect = 50;
  rates.delay = 500;
  const Traffic run(rates, 1);
  EXPECT_GT(run.counts.disconnects, 20u);
  EXPECT_GT(run.count(CallOutcome::Unavailable), 20);
  EXPECT_EQ(run.ends, 1000);
  EXPECT_EQ(run.handled.size(), 1000u);
}

} // namespace

namespace pdlrt::test {
INSTANTIATE_TYPED_TEST_SUITE_P(Faultless, TransportConformance,
                               FaultlessEnvironment);
} // namespace pdlrt::test
