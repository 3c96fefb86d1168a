//===- Scenario.cpp - Scenarios generated from seeds ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Testing/Simulator/Scenario.h"

#include "pdlabi/philox.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

using Milliseconds = std::chrono::milliseconds;

uint64_t pdlrt::drawFor(uint64_t seed, uint32_t purpose, uint64_t number) {
  const auto block =
      pdlabi::philox({{static_cast<uint32_t>(number),
                       static_cast<uint32_t>(number >> 32), purpose, 0x70}},
                     seed);
  return uint64_t(block.words[0]) << 32 | block.words[1];
}

namespace {

/// Draws consecutive random numbers.
class Dice {
public:
  Dice(uint64_t from, uint32_t what) : seed(from), purpose(what) {}
  /// Returns 0 to count - 1.
  uint64_t below(uint64_t count) {
    return drawFor(seed, purpose, next++) % count;
  }
  uint32_t upTo(uint32_t last) {
    return static_cast<uint32_t>(below(uint64_t(last) + 1));
  }
  bool chance(uint32_t percent) { return below(100) < percent; }

private:
  uint64_t seed;
  uint32_t purpose;
  uint64_t next = 0;
};

} // namespace

bool Scenario::succeeds() const {
  const bool isWait = core.onFailure == FailurePolicy::Wait;
  // A copy is lost with its trainer, or if another incarnation takes its place.
  const bool losesCopies =
      mode == ToyMode::Geo &&
      (!crashes.empty() || (isWait && !seconds.empty() && !cuts.empty()));
  return failingTrainer < 0 && (crashes.empty() || isWait) && !losesCopies;
}

std::set<uint32_t> Scenario::culprits() const {
  std::set<uint32_t> found;
  if (failingTrainer >= 0)
    found.insert(static_cast<uint32_t>(failingTrainer));
  for (const ToyCrash &crash : crashes)
    found.insert(crash.trainer);
  for (const ToySecond &second : seconds)
    found.insert(second.trainer);
  return found;
}

bool Scenario::isRequestOnly(uint64_t step) const {
  return mode == ToyMode::Geo && step > 0 && step + 1 < program.size() &&
         program[step - 1] == MessageKind::Reduce &&
         program[step] == MessageKind::Exchange &&
         program[step + 1] == MessageKind::Reduce;
}

bool Scenario::endsMeeting(uint64_t step) const {
  return step > 0 && isRequestOnly(step - 1);
}

static constexpr std::pair<ToyMode, const char *> modeNames[] = {
    {ToyMode::Sync, "sync"},
    {ToyMode::Async, "async"},
    {ToyMode::BoundedStaleness, "staleness"},
    {ToyMode::Quorum, "quorum"},
    {ToyMode::Geo, "geo"}};

std::optional<ToyMode> pdlrt::toyModeOf(std::string_view name) {
  for (const auto &[mode, text] : modeNames)
    if (name == text)
      return mode;
  return std::nullopt;
}

std::vector<std::string> pdlrt::toyModeNames() {
  std::vector<std::string> names;
  for (const auto &[mode, text] : modeNames)
    names.emplace_back(text);
  return names;
}

StepFacts Scenario::factsOf(uint32_t worker, const ToyRequest &request) const {
  const std::vector<MessageKind> &all = programOf(worker);
  if (request.step >= all.size() || all[request.step] != MessageKind::Exchange)
    return {};
  return {request.hasPart,
          std::find(all.begin() + int64_t(request.step) + 1, all.end(),
                    MessageKind::Exchange) != all.end()};
}

std::string Scenario::describe() const {
  std::string text = "seed " + std::to_string(seed) + ": ";
  for (const auto &[each, name] : modeNames)
    if (each == mode)
      text += std::string(name) + ", ";
  if (mode == ToyMode::BoundedStaleness)
    text += "at most " + std::to_string(staleness) + " ahead, ";
  if (mode == ToyMode::Quorum)
    text += "of " + std::to_string(quorum) +
            (late == LateGradients::Drop ? ", late are dropped, "
                                         : ", late count, ");
  text += std::to_string(trainers) + " trainers, " + std::to_string(servers) +
          " servers, ";
  text += workers == 0 ? "rounds of" : std::to_string(workers) + " workers;";
  for (const MessageKind kind : program)
    text += std::string(" ") + nameOf(kind);
  if (workers > 0)
    text +=
        "; workers: " + std::to_string(workerProgram.size()) + " requests each";
  text += "; drop " + std::to_string(faults.drop) + ", delay " +
          std::to_string(faults.delay) + ", duplicate " +
          std::to_string(faults.duplicate) + ", disconnect " +
          std::to_string(faults.disconnect) + " of 1000; ";
  text += core.onFailure == FailurePolicy::Wait ? "wait" : "abort";
  for (const ToyCrash &crash : crashes)
    text += "; trainer " + std::to_string(crash.trainer) + " dies at " +
            std::to_string(crash.when / Milliseconds(1)) + " ms" +
            (crash.back < ClockTime(0)
                 ? " for ever"
                 : ", back after " +
                       std::to_string(crash.back / Milliseconds(1)) + " ms") +
            (crash.saysSo ? ", and says so" : "");
  for (const ToyCut &cut : cuts)
    text += "; trainer " + std::to_string(cut.trainer) + " is cut off at " +
            std::to_string(cut.when / Milliseconds(1)) + " ms for " +
            std::to_string(cut.length / Milliseconds(1)) + " ms";
  for (const ToySecond &second : seconds)
    text += "; trainer " + std::to_string(second.trainer) +
            " is started a second time at " +
            std::to_string(second.when / Milliseconds(1)) + " ms";
  if (failingTrainer >= 0)
    text += "; trainer " + std::to_string(failingTrainer) + " fails at step " +
            std::to_string(failingStep);
  if (hasGhost)
    text += "; a ghost of another epoch";
  return text;
}

Scenario pdlrt::scenarioOfSeed(uint64_t seed) {
  return scenarioOfSeed(seed, drawFor(seed, 6, 0) % 4 == 0 ? ToyMode::Async
                                                           : ToyMode::Sync);
}

Scenario pdlrt::scenarioOfSeed(uint64_t seed, ToyMode mode) {
  Dice dice(seed, 0);
  Scenario scenario;
  scenario.seed = seed;
  scenario.mode = mode;
  scenario.trainers = 1 + dice.upTo(3);
  scenario.servers = 1 + dice.upTo(2);
  if (mode == ToyMode::Async || mode == ToyMode::BoundedStaleness)
    scenario.workers = 1 + dice.upTo(2);
  scenario.staleness = dice.upTo(3);
  scenario.quorum = 1 + dice.upTo(scenario.trainers - 1);
  scenario.late = dice.chance(50) ? LateGradients::Drop : LateGradients::Count;

  const uint32_t steps = 3 + dice.upTo(5);
  const auto meet = [&scenario] {
    for (int i = 0; i < 2; ++i) {
      scenario.program.push_back(MessageKind::Exchange);
      scenario.program.push_back(MessageKind::Reduce);
    }
  };
  if (mode == ToyMode::Geo) {
    for (uint32_t step = 0; step < steps; ++step) {
      scenario.program.push_back(MessageKind::Exchange);
      if (dice.chance(10))
        scenario.program.push_back(MessageKind::Save);
      if (step + 1 < steps && dice.chance(20))
        meet();
    }
  } else if (scenario.workers == 0) {
    const bool hasNorms = dice.chance(30) && mode == ToyMode::Sync;
    for (uint32_t step = 0; step < steps; ++step) {
      scenario.program.push_back(MessageKind::Exchange);
      if (hasNorms)
        scenario.program.push_back(MessageKind::Norm);
      if (dice.chance(10))
        scenario.program.push_back(MessageKind::Save);
      if (dice.chance(10))
        scenario.program.push_back(MessageKind::Pull);
      // Trainers send sums in the middle of a pass, as before a checkpoint.
      if (mode == ToyMode::Quorum && step + 1 < steps && dice.chance(20))
        scenario.program.push_back(MessageKind::Reduce);
    }
  } else {
    scenario.program.push_back(MessageKind::Pull);
    for (uint32_t step = 0; step < steps; ++step)
      scenario.workerProgram.push_back(dice.chance(30) ? MessageKind::Pull
                                                       : MessageKind::Exchange);
  }
  if (mode == ToyMode::Geo)
    meet();
  else
    scenario.program.push_back(MessageKind::Reduce);

  // One network in five has no faults. So errors are also found that occur only
  // without faults.
  if (!dice.chance(20)) {
    scenario.faults.drop = dice.upTo(150);
    scenario.faults.delay = dice.upTo(400);
    scenario.faults.longestDelay = Milliseconds(1 + dice.upTo(1500));
    scenario.faults.duplicate = dice.upTo(200);
    scenario.faults.disconnect = dice.upTo(50);
  }

  scenario.core.trainers = scenario.trainers;
  scenario.core.workersOfTrainer = scenario.workers;
  scenario.core.epoch = 1 + dice.below(1000);
  if (mode == ToyMode::Geo) {
    scenario.core.restartsContinue = false;
    scenario.core.keptResponses = 1;
  } else {
    scenario.core.maxPartBytes = uint64_t(1) << 20;
  }
  scenario.core.silenceLimit = std::chrono::seconds(20);
  scenario.core.joinLimit = std::chrono::minutes(2);
  scenario.core.abandonLimit = std::chrono::minutes(2);
  scenario.hasGhost = dice.chance(50);
  const auto anyTrainer = [&] {
    return static_cast<uint32_t>(dice.below(scenario.trainers));
  };
  const auto anyTime = [&] { return Milliseconds(dice.upTo(6000)); };
  if (dice.chance(35)) {
    scenario.core.onFailure = FailurePolicy::Wait;
    for (uint32_t left = dice.upTo(3); left > 0; --left)
      scenario.crashes.push_back(
          {anyTrainer(), anyTime(), Milliseconds(dice.upTo(30000))});
    for (uint32_t left = dice.upTo(2); left > 0; --left)
      scenario.cuts.push_back(
          {anyTrainer(), anyTime(), Milliseconds(dice.upTo(60000))});
    // Not all at once: if all trainers have failed, the job is over.
    if (scenario.trainers > 1 && !scenario.crashes.empty() && dice.chance(50)) {
      scenario.crashes[0].saysSo = true;
      if (dice.chance(50))
        scenario.crashes[0].back = Milliseconds(dice.upTo(500));
    }
  } else if (dice.chance(20)) {
    scenario.crashes.push_back({anyTrainer(), anyTime(), ClockTime(-1)});
  } else if (dice.chance(10)) {
    scenario.failingTrainer = static_cast<int>(anyTrainer());
    scenario.failingStep = dice.below(scenario.program.size());
  }
  // Sometimes a second process of a running trainer is started. With
  // --on-failure=wait, the first process is often cut off for so long that the
  // second one replaces it, and then returns.
  const bool waits = scenario.core.onFailure == FailurePolicy::Wait;
  if (scenario.crashes.empty() && scenario.failingTrainer < 0 &&
      dice.chance(waits ? 80 : 20)) {
    if (waits && dice.chance(70))
      scenario.cuts = {{anyTrainer(), Milliseconds(500 + dice.upTo(2500)),
                        Milliseconds(22000 + dice.upTo(6000))}};
    const uint32_t rank =
        scenario.cuts.empty() ? anyTrainer() : scenario.cuts.front().trainer;
    scenario.seconds.push_back({rank, Milliseconds(dice.upTo(8000))});
  }
  return scenario;
}

ToyRequest pdlrt::toyRequestOf(const Scenario &scenario, uint32_t server,
                               uint32_t trainer, uint32_t worker, uint64_t step,
                               const ToyResponse &previous) {
  Dice dice(drawFor(scenario.seed, 1,
                    ((step * 8 + worker) * 8 + trainer) * 8 + server),
            2);
  ToyRequest request;
  request.step = step;
  for (int i = 0; i < 3; ++i)
    request.keys.push_back(static_cast<int64_t>(dice.below(10)));
  const MessageKind kind = scenario.programOf(worker)[step];
  if (kind == MessageKind::Pull || kind == MessageKind::Save ||
      scenario.isRequestOnly(step) ||
      (scenario.mode == ToyMode::Geo && kind == MessageKind::Reduce))
    return request;
  for (int i = 0; i < 3; ++i)
    request.increments.emplace_back(static_cast<int64_t>(dice.below(10)),
                                    1 + static_cast<int64_t>(dice.below(9)));
  // Equal for all servers.
  request.hasPart =
      drawFor(scenario.seed, 7, (step * 8 + worker) * 8 + trainer) % 5 != 0;
  if (scenario.mode == ToyMode::Geo && !request.hasPart)
    request.increments.clear();
  for (size_t i = 0; request.hasPart && i < request.part.size(); ++i) {
    const float digits =
        1.0f + static_cast<float>(dice.below(1 << 20)) * 0x1p-20f;
    const float size = static_cast<float>(uint64_t(1) << dice.below(24));
    const float quarter = 0.25f * previous.dense[i];
    const float fresh = dice.chance(50) ? digits * size : -digits * size;
    request.part[i] = fresh + quarter;
  }
  return request;
}
