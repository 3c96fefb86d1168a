//===- EarlySenderTest.cpp - Gradients sent during the step ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/EarlySender.h"

#include "Support/BlockProgram.h"
#include "Support/TestServer.h"
#include "pdlrt/Testing/Simulator/WrappingTransport.h"
#include "pdlrt/Transport/Frame.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <type_traits>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

using Milliseconds = std::chrono::milliseconds;

/// Open calls of slow connections.
struct OpenCalls {
  int exchanges = 0;
  /// Bytes of requests that the link has not transferred.
  size_t bytes = 0;
};

/// Forwards calls one after another, at the speed of the link.
class SlowConnection final : public Connection {
public:
  SlowConnection(std::unique_ptr<Connection> to, Clock &by, double bytesASecond,
                 OpenCalls &counts)
      : state(std::make_shared<State>(std::move(to), counts)), clock(by),
        rate(bytesASecond) {}
  ~SlowConnection() override {
    state->inner.reset();
    for (auto &[number, call] : std::exchange(state->calls, {})) {
      state->open.bytes -= call.request.size();
      call.done({CallOutcome::Unavailable, {}});
    }
  }
  void call(Message request, ClockTime deadline, CallDone done) override {
    if (readHead(request)->kind == MessageKind::Exchange) {
      ++state->open.exchanges;
      done = [&open = state->open, done = std::move(done)](CallResult result) {
        --open.exchanges;
        done(std::move(result));
      };
    }
    free = std::max(free, clock.now()) +
           std::chrono::duration_cast<ClockTime>(
               std::chrono::duration<double>(double(request.size()) / rate));
    state->open.bytes += request.size();
    const int number = ++last;
    state->calls[number] = {std::move(request), deadline, std::move(done)};
    clock.runAt(free, [weak = std::weak_ptr(state), number] {
      if (const auto state = weak.lock())
        state->pass(number);
    });
  }

private:
  struct Call {
    Message request;
    ClockTime deadline{0};
    CallDone done;
  };
  struct State {
    State(std::unique_ptr<Connection> to, OpenCalls &counts)
        : inner(std::move(to)), open(counts) {}
    void pass(int number) {
      const auto found = calls.find(number);
      if (found == calls.end())
        return;
      Call call = std::move(found->second);
      calls.erase(found);
      open.bytes -= call.request.size();
      inner->call(std::move(call.request), call.deadline, std::move(call.done));
    }
    std::unique_ptr<Connection> inner;
    OpenCalls &open;
    std::map<int, Call> calls;
  };

  const std::shared_ptr<State> state;
  Clock &clock;
  const double rate;
  int last = 0;
  ClockTime free{0};
};

template <typename ClockKind> class Steps : public testing::Test {
protected:
  static constexpr int32_t serverCount = 2;
  static constexpr bool isManual = std::is_same_v<ClockKind, ManualClock>;

  Steps() {
    std::iota(w.begin(), w.end(), 1.0f);
    std::iota(b.begin(), b.end(), 0.5f);
    coreOptions.maxPartBytes = 4000;
  }

  void start(double bytesASecond = 0) {
    auto map = Placement::compute(program.descriptor(), serverCount, 1,
                                  PlacementPolicy::LeastLoaded);
    ASSERT_TRUE(map.ok()) << map.status().message();
    placement.emplace(std::move(*map));
    auto made =
        ExchangeLayout::create(program.descriptor(), BlockTrain, *placement);
    ASSERT_TRUE(made.ok()) << made.status().message();
    layout.emplace(std::move(*made));
    std::vector<std::string> addresses;
    for (int32_t s = 0; s < serverCount; ++s) {
      addresses.push_back("server-" + std::to_string(s));
      servers.push_back(std::make_unique<TestServer>(
          *transport, addresses.back(), coreOptions));
    }
    if (bytesASecond > 0)
      slow = createWrappingTransport(
          *transport, [this, bytesASecond](std::unique_ptr<Connection> inner) {
            return std::make_unique<SlowConnection>(std::move(inner), clock,
                                                    bytesASecond, open);
          });
    auto connected = ServerGroup::connect(slow ? *slow : *transport, addresses,
                                          {0, 0, 1, 0, {}}, groupOptions());
    ASSERT_TRUE(connected.ok());
    group = std::move(*connected);
    ASSERT_TRUE(
        group->joinAll(std::vector<Message>(serverCount, Message::ofString("")))
            .ok());
  }

  /// A wait for servers advances a manual clock.
  ServerGroupOptions groupOptions() {
    ServerGroupOptions options;
    if constexpr (isManual)
      options.shouldStop = [this] {
        clock.advanceTo(clock.now() + Milliseconds(100));
        return false;
      };
    return options;
  }
  std::unique_ptr<EarlySender> sender(const OverlapOptions &options) {
    return std::make_unique<EarlySender>(*layout, *group, options, [this] {
      return EarlySender::Time(
          std::chrono::duration_cast<EarlySender::Time::duration>(clock.now()));
    });
  }

  /// Returns the payloads of a step; with `sender`, without parts that were
  /// sent.
  std::vector<Message> payloads(const EarlySender *sender) {
    std::vector<Message> all;
    for (int32_t s = 0; s < serverCount; ++s) {
      ExchangeWriter writer(*layout, {.contributes = true});
      for (int32_t c = 0; c < layout->channelCount(); ++c) {
        const pdl_channel &channel = layout->channel(c);
        const PartPlace *left = sender ? sender->placeOf(s, c) : nullptr;
        if (left)
          writer.addPart(c, *left);
        else if (channel.kind == PDL_CHANNEL_LOSS)
          writer.addCopy(c, "a loss and weight", 16);
        else if (channel.kind == PDL_CHANNEL_GRADIENT)
          writer.addBlocks(s, c,
                           channel.symbol == BlockW
                               ? static_cast<void *>(w.data())
                               : static_cast<void *>(b.data()));
      }
      all.push_back(writer.finish());
      if (sender)
        group->placeParts(size_t(s), writer.partPlaces());
    }
    return all;
  }

  /// Runs one step whose backward pass continues for `rest` after the
  /// gradients.
  void step(EarlySender &sender, ClockTime rest = ClockTime(0)) {
    const bool isEarly = sender.beginStep();
    if (isEarly) {
      sender.take(1, b.data());
      sender.take(0, w.data());
    }
    if constexpr (isManual)
      clock.advanceTo(clock.now() + rest);
    const Status computed = sender.endCompute();
    ASSERT_TRUE(computed.ok()) << computed.message();
    const std::vector<Message> whole = payloads(nullptr);
    group->beginAll(MessageKind::Exchange, payloads(&sender));
    if constexpr (isManual)
      while (open.exchanges > 0)
        clock.advanceTo(clock.now() + Milliseconds(1));
    const auto responses = group->awaitAll();
    ASSERT_TRUE(responses.ok()) << responses.status().message();
    for (int32_t s = 0; s < serverCount; ++s)
      EXPECT_EQ((*responses)[s].toString(), "0 reads " + whole[s].toString());
    sender.endStep(/*contributed=*/true, /*wait=*/0.001);
  }

  ClockKind clock;
  std::unique_ptr<Transport> transport = createInProcessTransport(clock);
  std::unique_ptr<Transport> slow;
  OpenCalls open;
  BlockProgram program{BlockVariant{}};
  std::vector<float> w = std::vector<float>(900), b = std::vector<float>(7);
  ServerCoreOptions coreOptions;
  std::optional<Placement> placement;
  std::optional<ExchangeLayout> layout;
  std::vector<std::unique_ptr<TestServer>> servers;
  std::unique_ptr<ServerGroup> group;
};
using EarlySenderTest = Steps<RealClock>;
/// Time advances with links and steps, independently of the test machine.
using SlowLinkTest = Steps<ManualClock>;

TEST_F(EarlySenderTest, ServersGetTheSameBytes) {
  start();
  // Part sizes from so small that each gradient fills a part, to so large that
  // no part is filled.
  for (const int64_t partBytes : {1, 20, 100, 1500, 4000}) {
    const auto early = sender({Overlap::On, false, partBytes});
    for (int steps = 0; steps < 3; ++steps)
      step(*early);
    EXPECT_EQ(early->costs().parts > 0, partBytes < 4000) << partBytes;
    // Parts of one step have no effect on the next exchange.
    for (int32_t s = 0; s < serverCount; ++s)
      for (int32_t c = 0; c < layout->channelCount(); ++c)
        EXPECT_FALSE(early->placeOf(s, c));
  }
}

TEST_F(EarlySenderTest, OffMeansOff) {
  start();
  const auto early = sender({Overlap::Off, false, 1});
  EXPECT_FALSE(early->beginStep());
  step(*early);
  EXPECT_EQ(early->costs().parts, 0);
  EXPECT_EQ(early->costs().choice, "off");
}

TEST_F(EarlySenderTest, NothingIsTriedWhereNothingFillsAPart) {
  start();
  const auto early = sender({});
  for (int steps = 0; steps < 20; ++steps)
    EXPECT_FALSE(early->beginStep());
  EXPECT_EQ(early->costs().choice, "auto: off: no dense gradients fill a part");
  const auto packed = sender({Overlap::Auto, true, 1});
  EXPECT_FALSE(packed->beginStep());
  EXPECT_EQ(packed->costs().choice, "auto: off: gradients are packed");
}

TEST_F(EarlySenderTest, TrialsGoByTheNumberOfTheRequest) {
  start();
  const auto first = sender({Overlap::Auto, false, 1000});
  std::string tried, later;
  for (int steps = 0; steps < 8; ++steps) {
    step(*first);
    tried += first->beginStep() ? '+' : '-';
  }
  // A sender that has done fewer steps than the other one.
  const auto second = sender({Overlap::Auto, false, 1000});
  for (int steps = 0; steps < 2; ++steps)
    step(*second);
  for (int steps = 0; steps < 8; ++steps) {
    later += second->beginStep() ? '+' : '-';
    step(*second);
  }
  EXPECT_EQ(tried, "-+--++--");
  EXPECT_EQ(later, "+--++--+");
}

/// Each owner's 1.8 KB take about 72 ms, and 100 ms of a step remain.
TEST_F(SlowLinkTest, IsFaster) {
  start(/*bytesASecond=*/25e3);
  const ClockTime rest = Milliseconds(100);
  const auto timeOf = [&](Overlap overlap) {
    const auto early = sender({overlap, false, 1000});
    const ClockTime begin = clock.now();
    for (int steps = 0; steps < 5; ++steps)
      step(*early, rest);
    return std::chrono::duration<double>(clock.now() - begin).count();
  };
  const double without = timeOf(Overlap::Off), with = timeOf(Overlap::On);
  EXPECT_LT(with, 0.85 * without);
  // The trial detects that early sending is faster.
  const auto early = sender({Overlap::Auto, false, 1000});
  for (int steps = 0; steps < 20; ++steps)
    step(*early, rest);
  EXPECT_THAT(early->costs().choice, StartsWith("auto: on: "));
  EXPECT_GT(early->costs().parts, 0);
}

/// Simulates a step whose next batch finds no memory: the gradients of the step
/// are freed.
TEST_F(SlowLinkTest, AStepThatFailsLetsItsPartsGo) {
  start(/*bytesASecond=*/25e3);
  const auto early = sender({Overlap::On, false, 1000});
  ASSERT_TRUE(early->beginStep());
  early->take(1, b.data());
  early->take(0, w.data());
  EXPECT_GT(open.bytes, 3000u);
  early->letGo();
  EXPECT_EQ(open.bytes, 0u);
  std::ranges::fill(w, 0);
  // The request is not repeated, and the others learn why.
  group->leaveAll("out of memory", Milliseconds(0));
  clock.advanceTo(clock.now() + std::chrono::seconds(60));
  for (const auto &server : servers)
    EXPECT_THAT(server->core.status().message, HasSubstr("out of memory"));
}

/// The rest of a step is too short to hide anything.
TEST_F(SlowLinkTest, IsNoFasterWithoutConcurrentComputing) {
  start(/*bytesASecond=*/25e3);
  const auto early = sender({Overlap::Auto, false, 1000});
  for (int steps = 0; steps < 20; ++steps)
    step(*early);
  EXPECT_THAT(early->costs().choice, StartsWith("auto: off: "));
}

} // namespace
