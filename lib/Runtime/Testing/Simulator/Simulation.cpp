//===- Simulation.cpp - Simulates a job in one thread ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/Simulation.h"

#include "CutTransport.h"
#include "LingeringTransport.h"
#include "ToyTrainer.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Testing/Simulator/ToyTable.h"
#include "pdlrt/Transport/Frame.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace pdlrt;

using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

/// Virtual time after which a job counts as hung. It is long enough for
/// restarts that come late.
static constexpr ClockTime timeLimit = std::chrono::minutes(20);

namespace {

/// Server process.
class ToyServer {
public:
  ToyServer(const ToyWorld &in, const SimulationHooks &hooks, uint32_t server)
      : world(in), rank(server),
        table(in.scenario, server, in.clock, in.history) {
    if (hooks.wrapApplication)
      wrapped = hooks.wrapApplication(table);
    core =
        std::make_unique<ServerCore>(in.scenario.core, application(), in.clock);
    RequestHandler handler = core->handler();
    if (hooks.wrapServer)
      handler = hooks.wrapServer(std::move(handler), application());
    auto opened =
        in.network.listen(ToyWorld::addressOf(server), std::move(handler));
    if (opened)
      listener = std::move(*opened);
    core->whenOver([this] { over(); });
  }

  bool hasEnded() const { return core == nullptr; }
  std::string waitingFor() const { return core ? core->waitingFor() : ""; }

private:
  ServerApplication &application() {
    return wrapped ? *wrapped : static_cast<ServerApplication &>(table);
  }
  void over() {
    Event event;
    event.what = Event::What::ServerEnded;
    event.when = world.clock.now();
    event.server = rank;
    event.text = core->status().message;
    world.history.push_back(event);
    ++world.endedServers;
    linger(world.clock.now() + Seconds(10));
  }
  /// Ends the server when all trainers know the outcome of the job, or at
  /// `until`. A server process does the same.
  void linger(ClockTime until) {
    world.clock.runAfter(Milliseconds(100), [this, until] {
      if (!core->allNotified() && world.clock.now() < until) {
        linger(until);
        return;
      }
      listener.reset();
      core.reset();
    });
  }

  ToyWorld world;
  const uint32_t rank;
  ToyTable table;
  std::unique_ptr<ServerApplication> wrapped;
  std::unique_ptr<ServerCore> core;
  std::unique_ptr<Listener> listener;
};

/// A process of an earlier job. It sends requests with the epoch of that job in
/// the name of a trainer, and some random bytes.
class Ghost {
public:
  explicit Ghost(const ToyWorld &in) : world(in) {
    for (uint32_t server = 0; server < world.scenario.servers; ++server)
      if (auto connection = world.network.connect(ToyWorld::addressOf(server)))
        connections.push_back(std::move(*connection));
    for (uint64_t i = 0; i < 20; ++i)
      world.clock.runAt(Milliseconds(static_cast<int64_t>(draw(6 * i) % 8000)),
                        [this, i] { haunt(i); });
  }

private:
  uint64_t draw(uint64_t number) const {
    return drawFor(world.scenario.seed, 4, number);
  }
  void haunt(uint64_t i) {
    const Scenario &scenario = world.scenario;
    Envelope head;
    head.kind = MessageKind::Exchange;
    head.trainer = static_cast<uint32_t>(draw(6 * i + 1) % scenario.trainers);
    head.worker = scenario.workers > 0 ? 1 : 0;
    head.incarnation = 1;
    head.sequence = 1 + draw(6 * i + 2) % 4;
    head.epoch = scenario.core.epoch - 1;
    ToyRequest request;
    request.step = head.sequence - 1;
    request.increments = {{666, 1}};
    Message message = joinFrame(head, request.encode());
    if (i % 4 == 0) {
      // Truncate the message and change a byte of it.
      std::string bytes = message.toString();
      bytes.resize(draw(6 * i + 3) % (bytes.size() + 1));
      if (!bytes.empty())
        bytes[draw(6 * i + 4) % std::min(bytes.size(), envelopeSize)] ^= 0x55;
      message = Message::ofString(std::move(bytes));
    }
    connections[draw(6 * i + 5) % connections.size()]->call(
        std::move(message), world.clock.now() + Seconds(1),
        [](const CallResult &) {});
  }

  ToyWorld world;
  std::vector<std::unique_ptr<Connection>> connections;
};

/// The trainer with one rank, including its restarts. A second process of the
/// same rank may run concurrently with the first one.
class ToyRank {
public:
  ToyRank(const ToyWorld &in, uint32_t number)
      : network(createCutTransport(
            in.network,
            [&scenario = in.scenario, number](ClockTime now) {
              return isCut(scenario, number, now);
            })),
        world{in.scenario, in.clock, *network, in.history, in.endedServers},
        rank(number) {
    const auto delay = drawFor(world.scenario.seed, 5, rank) % 2000;
    world.clock.runAfter(Milliseconds(static_cast<int64_t>(delay)),
                         [this] { start(); });
    for (const ToyCrash &crash : world.scenario.crashes)
      if (crash.trainer == rank)
        world.clock.runAt(crash.when, [this, crash] { die(crash); });
    for (const ToySecond &second : world.scenario.seconds)
      if (second.trainer == rank) {
        ++secondsToCome;
        // This process runs on another host, whose network stays connected.
        world.clock.runAt(second.when, [this, &uncut = in] {
          --secondsToCome;
          seconds.push_back(
              std::make_unique<ToyTrainer>(uncut, rank, ++starts));
        });
      }
  }

  bool hasEnded() const {
    return secondsToCome == 0 &&
           std::all_of(seconds.begin(), seconds.end(),
                       [](const auto &each) { return each->isOver(); }) &&
           (trainer ? (trainer->isOver() && !isShutOut()) || isReplaced()
                    : isDead && !rejoins);
  }

private:
  /// Returns true if a second process has joined in place of the first one. The
  /// first process may return after all other processes have ended, and would
  /// then wait forever.
  bool isReplaced() const {
    return std::any_of(seconds.begin(), seconds.end(),
                       [](const auto &each) { return each->hasJoined(); });
  }
  static bool isCut(const Scenario &scenario, uint32_t rank, ClockTime now) {
    for (const ToyCut &cut : scenario.cuts)
      if (cut.trainer == rank && cut.when <= now && now < cut.when + cut.length)
        return true;
    return false;
  }
  void start() {
    isDead = rejoins = false;
    trainer = std::make_unique<ToyTrainer>(world, rank, ++starts);
    watch();
  }
  /// Returns true if a restarted process could not join, because a join of a
  /// dead incarnation was still in flight and was admitted. The trainer is then
  /// restarted again.
  bool isShutOut() const {
    return world.scenario.core.onFailure == FailurePolicy::Wait &&
           world.endedServers == 0 && starts > 1 && starts < 9 &&
           seconds.empty() && secondsToCome == 0 && trainer &&
           trainer->isOver() && !trainer->hasJoined();
  }
  void watch() {
    world.clock.runAfter(Milliseconds(500), [this] {
      if (isShutOut())
        start();
      else if (trainer && !trainer->hasJoined() && !trainer->isOver())
        watch();
    });
  }
  void die(const ToyCrash &crash) {
    // The trainer may not have been started, may be dead, or may be leaving.
    if (!trainer || trainer->isLeaving())
      return;
    Event event;
    event.what = Event::What::Crashed;
    event.when = world.clock.now();
    event.trainer = rank;
    event.incarnation = starts;
    world.history.push_back(event);
    if (crash.saysSo)
      trainer->sendLastMessages();
    trainer.reset();
    isDead = true;
    rejoins = crash.back >= ClockTime(0);
    if (rejoins)
      world.clock.runAfter(crash.back, [this] { start(); });
  }

  std::unique_ptr<Transport> network;
  ToyWorld world;
  const uint32_t rank;
  uint64_t starts = 0;
  bool isDead = false;
  bool rejoins = false;
  std::unique_ptr<ToyTrainer> trainer;
  uint32_t secondsToCome = 0;
  std::vector<std::unique_ptr<ToyTrainer>> seconds;
};

} // namespace

SimulationResult pdlrt::simulate(const Scenario &scenario,
                                 const SimulationHooks &hooks) {
  SimulationResult result;
  ManualClock clock;
  const auto network = createInProcessTransport(clock);
  const auto faulty = createFaultyTransport(*network, scenario.faults,
                                            scenario.seed, result.faults);
  const auto changed = hooks.wrapNetwork ? hooks.wrapNetwork(*faulty) : nullptr;
  const auto lingering = createLingeringTransport(changed ? *changed : *faulty);
  uint32_t endedServers = 0;
  const ToyWorld world{scenario, clock, *lingering, result.history,
                       endedServers};

  std::vector<std::unique_ptr<ToyServer>> servers;
  for (uint32_t server = 0; server < scenario.servers; ++server)
    servers.push_back(std::make_unique<ToyServer>(world, hooks, server));
  std::vector<std::unique_ptr<ToyRank>> ranks;
  for (uint32_t rank = 0; rank < scenario.trainers; ++rank)
    ranks.push_back(std::make_unique<ToyRank>(world, rank));
  std::optional<Ghost> ghost;
  if (scenario.hasGhost)
    ghost.emplace(world);

  const auto openEnds = [&] {
    std::string text;
    for (uint32_t rank = 0; rank < ranks.size(); ++rank)
      if (!ranks[rank]->hasEnded())
        text += " trainer " + std::to_string(rank);
    for (uint32_t server = 0; server < servers.size(); ++server)
      if (!servers[server]->hasEnded())
        text += " server " + std::to_string(server) + " (" +
                servers[server]->waitingFor() + ")";
    return text;
  };
  const auto isOver = [&] {
    for (const auto &rank : ranks)
      if (!rank->hasEnded())
        return false;
    for (const auto &server : servers)
      if (!server->hasEnded())
        return false;
    return true;
  };
  while (!isOver() && clock.now() < timeLimit && clock.runNext()) {
  }
  result.duration = clock.now();
  if (!isOver()) {
    Event event;
    event.what = Event::What::Hung;
    event.when = clock.now();
    event.text = "not ended:" + openEnds();
    result.history.push_back(event);
  }
  return result;
}
