//===- SimulationTest.cpp - Jobs by seed, and detected faults -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/Simulation.h"

#include "Mutants.h"
#include "pdlrt/Testing/Simulator/Checker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <tuple>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

std::string faultOf(uint64_t seed, ToyMode mode) {
  const Scenario scenario = scenarioOfSeed(seed, mode);
  return checkHistory(scenario, simulate(scenario).history);
}

// Sanitizers are ten times slower, and detect in 200 seeds what they detect in
// 2,000.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr uint64_t seedsOfPart = 25;
#else
constexpr uint64_t seedsOfPart = 250;
#endif
#else
constexpr uint64_t seedsOfPart = 250;
#endif

/// 2,000 seeds of each mode in eight parts. `pdl-simulate --mode M --seeds N
/// --print` shows one of them.
class SimulatedSeedsTest
    : public testing::TestWithParam<std::tuple<ToyMode, uint64_t>> {};

TEST_P(SimulatedSeedsTest, EachRequestCountsOnce) {
  const auto [mode, part] = GetParam();
  const uint64_t first = part * seedsOfPart + 1;
  for (uint64_t seed = first; seed < first + seedsOfPart; ++seed)
    EXPECT_EQ(faultOf(seed, mode), "") << "seed " << seed;
}

const auto parts = testing::Range<uint64_t>(0, 8);
INSTANTIATE_TEST_SUITE_P(Sync, SimulatedSeedsTest,
                         testing::Combine(testing::Values(ToyMode::Sync),
                                          parts));
INSTANTIATE_TEST_SUITE_P(Async, SimulatedSeedsTest,
                         testing::Combine(testing::Values(ToyMode::Async),
                                          parts));
INSTANTIATE_TEST_SUITE_P(
    Staleness, SimulatedSeedsTest,
    testing::Combine(testing::Values(ToyMode::BoundedStaleness), parts));
INSTANTIATE_TEST_SUITE_P(Quorum, SimulatedSeedsTest,
                         testing::Combine(testing::Values(ToyMode::Quorum),
                                          parts));

INSTANTIATE_TEST_SUITE_P(Geo, SimulatedSeedsTest,
                         testing::Combine(testing::Values(ToyMode::Geo),
                                          parts));

/// A server had admitted one process first and another one later. The server
/// told the first process so before that process joined, but it still joined
/// the other servers.
TEST(SimulationTest, WhoIsKeptOutByOneServerJoinsNone) {
  for (const ToyMode mode : {ToyMode::Async, ToyMode::BoundedStaleness})
    EXPECT_EQ(faultOf(19788, mode), "");
}

/// The response to a greeting was sent before a network cut. After the cut,
/// another process had done the whole work and left.
TEST(SimulationTest, ATrainerWhoseStepsEndMeanwhileDoesNotJoin) {
  for (const ToyMode mode : {ToyMode::Async, ToyMode::BoundedStaleness})
    EXPECT_EQ(faultOf(5222, mode), "");
}

/// A process that one server had replaced told the other servers that its
/// trainer had failed, before the later process had reached them. The job
/// failed.
TEST(SimulationTest, AReplacedProcessEndsSilently) {
  for (const ToyMode mode : {ToyMode::Sync, ToyMode::Quorum})
    EXPECT_EQ(faultOf(8224, mode), "");
}

/// Two overlapping cuts count as one, with their whole length.
TEST(SimulationTest, CutsThatOverlapAreOne) {
  for (const ToyMode mode : {ToyMode::Sync, ToyMode::Quorum})
    EXPECT_EQ(faultOf(10311, mode), "");
}

TEST(SimulationTest, ASeedIsASchedule) {
  const auto linesOf = [](uint64_t seed) {
    std::string lines;
    for (const Event &event : simulate(scenarioOfSeed(seed)).history)
      lines += event.describe() + "\n";
    return lines;
  };
  for (uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(linesOf(seed), linesOf(seed));
  EXPECT_NE(linesOf(1), linesOf(2));
}

/// The seeds are useful only if the faults to be survived occur.
TEST(SimulationTest, TheSeedsMeetWhatTheyAreFor) {
  FaultCounts faults;
  int failures = 0;
  int newStarts = 0;
  int sentAgain = 0;
  int requestedAgain = 0;
  int notLetIn = 0;
  int replacedAlive = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Scenario scenario = scenarioOfSeed(seed);
    const SimulationResult result = simulate(scenario);
    faults.drops += result.faults.drops;
    faults.duplicates += result.faults.duplicates;
    faults.delays += result.faults.delays;
    faults.disconnects += result.faults.disconnects;
    std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t>> given;
    std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint64_t, uint64_t>>
        givenByStart;
    for (const Event &event : result.history) {
      const std::tuple key(event.server, event.trainer, event.worker,
                           event.step);
      if (event.what == Event::What::Failed)
        ++failures;
      if (event.what == Event::What::Started && event.incarnation > 1)
        ++newStarts;
      notLetIn += event.what == Event::What::Refused;
      replacedAlive += event.what == Event::What::Joined &&
                       event.incarnation > 1 && !scenario.cuts.empty() &&
                       !scenario.seconds.empty();
      const auto keyOfStart =
          std::tuple_cat(key, std::tuple(event.incarnation));
      if (event.what == Event::What::Contributed) {
        givenByStart.insert(keyOfStart);
        sentAgain += !given.insert(key).second;
      }
      if (event.what == Event::What::Read && !givenByStart.contains(keyOfStart))
        ++requestedAgain;
    }
  }
  EXPECT_GT(faults.drops, 5000u);
  EXPECT_GT(faults.delays, 5000u);
  EXPECT_GT(faults.duplicates, 2000u);
  EXPECT_GT(faults.disconnects, 500u);
  EXPECT_GT(failures, 20);
  EXPECT_GT(newStarts, 50);
  EXPECT_GT(sentAgain, 20);
  EXPECT_GT(requestedAgain, 20);
  EXPECT_GT(notLetIn, 10);
  EXPECT_GT(replacedAlive, 3);
}

class MutantTest : public testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, IsNoticed) {
  const Mutant &mutant = GetParam();
  for (uint64_t seed = 1; seed <= mutant.seeds; ++seed) {
    Scenario scenario =
        mutant.mode ? scenarioOfSeed(seed, *mutant.mode) : scenarioOfSeed(seed);
    // Only the mutant's own fault must show.
    scenario.hasGhost = false;
    if (mutant.prepare)
      mutant.prepare(scenario);
    const SimulationResult result = simulate(scenario, mutant.hooks(scenario));
    if (const std::string fault = checkHistory(scenario, result.history);
        !fault.empty()) {
      RecordProperty("noticed", "seed " + std::to_string(seed) + ": " + fault);
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                  fault.c_str());
      return;
    }
  }
  FAIL() << mutant.name << " was not noticed in " << mutant.seeds << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Protocol, MutantTest, testing::ValuesIn(allMutants()),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

/// A history of two trainers and one server, modified by hand.
class CheckerTest : public testing::Test {
protected:
  CheckerTest() {
    scenario.seed = 1;
    scenario.trainers = 2;
    scenario.program = {MessageKind::Exchange, MessageKind::Exchange,
                        MessageKind::Reduce};
    scenario.core.trainers = 2;
    history = simulate(scenario).history;
  }
  size_t find(Event::What what, size_t number) const {
    for (size_t i = 0; i < history.size(); ++i)
      if (history[i].what == what && number-- == 0)
        return i;
    ADD_FAILURE() << "no such event";
    return 0;
  }
  void expectFault(const std::string &part) {
    const std::string fault = checkHistory(scenario, history);
    EXPECT_NE(fault.find(part), std::string::npos) << "'" << fault << "'";
  }
  void erase(size_t at) { history.erase(history.begin() + ptrdiff_t(at)); }

  Scenario scenario;
  History history;
};

TEST_F(CheckerTest, TheHistoryItselfIsRight) {
  EXPECT_EQ(checkHistory(scenario, history), "");
}

TEST_F(CheckerTest, OneBitOfASum) {
  float &value = history[find(Event::What::Closed, 1)].response.dense[2];
  value = std::nextafter(value, std::numeric_limits<float>::infinity());
  expectFault("values are not the rank-ordered sums");
}

TEST_F(CheckerTest, OneCounterThatIsRead) {
  ++history[find(Event::What::Read, 3)].response.counters[0].second;
  expectFault("a sender reads what was not written");
}

TEST_F(CheckerTest, ARequestIsTakenTwice) {
  const size_t at = find(Event::What::Applied, 2);
  const Event copy = history[at];
  history.insert(history.begin() + ptrdiff_t(at), copy);
  expectFault("a server takes a request twice");
}

TEST_F(CheckerTest, ARequestIsChanged) {
  ++history[find(Event::What::Applied, 2)].request.increments[0].second;
  expectFault("a server takes something else than was given to it");
}

TEST_F(CheckerTest, ARequestIsLost) {
  erase(find(Event::What::Applied, 1));
  expectFault("a round is closed without all trainers");
}

TEST_F(CheckerTest, RequestsOfARoundAreSwapped) {
  const size_t at = find(Event::What::Applied, 2);
  const Event first = history[at];
  erase(at);
  // Now the second request has its number.
  history.insert(history.begin() + ptrdiff_t(find(Event::What::Applied, 2)) + 1,
                 first);
  expectFault("not taken in rank order");
}

TEST_F(CheckerTest, AReadComesBeforeItsRound) {
  std::swap(history[find(Event::What::Closed, 1)],
            history[find(Event::What::Read, 2)]);
  expectFault("reads before it is answered");
}

TEST_F(CheckerTest, NobodyGaveIt) {
  erase(find(Event::What::Contributed, 0));
  expectFault("takes what no process gave to it");
}

/// Same as CheckerTest for mode geo, with a meeting at the end.
class CopyCheckerTest : public CheckerTest {
protected:
  CopyCheckerTest() {
    scenario.mode = ToyMode::Geo;
    scenario.program = {MessageKind::Exchange, MessageKind::Exchange,
                        MessageKind::Reduce, MessageKind::Exchange,
                        MessageKind::Reduce};
    history = simulate(scenario).history;
  }
};

TEST_F(CopyCheckerTest, TheHistoryItselfIsRight) {
  EXPECT_EQ(checkHistory(scenario, history), "");
}

TEST_F(CopyCheckerTest, OneKeyOfACopy) {
  ++history[find(Event::What::Read, 1)].copy.counters.begin()->second;
  expectFault("a copy is not what the server had when it answered");
}

TEST_F(CopyCheckerTest, OneBitOfACopy) {
  float &value = history[find(Event::What::Read, 0)].copy.dense[3];
  value = std::nextafter(value, std::numeric_limits<float>::infinity());
  expectFault("a copy is not what the server had when it answered");
}

/// A trainer sends its changes after the first sum.
TEST_F(CopyCheckerTest, ACopyOfAMeetingIsOld) {
  const size_t at = find(Event::What::Read, 6);
  const Event read = history[at];
  ASSERT_EQ(read.step, 3u);
  erase(at);
  expectFault("trainers that have met have other values than the server");
}

TEST_F(CheckerTest, OneProcessDoesNotEnd) {
  const History whole = history;
  erase(find(Event::What::Left, 1));
  expectFault("does not end");
  history = whole;
  erase(find(Event::What::ServerEnded, 0));
  expectFault("server 0 does not end");
}

} // namespace
