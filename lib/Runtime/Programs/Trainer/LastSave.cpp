//===- LastSave.cpp - Retries of a training's last save -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/LastSave.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>
#include <vector>

using namespace pdlrt;

WaitEnvironment::~WaitEnvironment() = default;
LastSave::Target::~Target() = default;

namespace {

class ProcessEnvironment final : public WaitEnvironment {
public:
  Time now() const override { return Time::clock::now(); }
  void sleep(Time::duration duration) override {
    std::this_thread::sleep_for(duration);
  }
  bool isStopping() const override { return stopSignal() != 0; }
  int stopSignals() const override { return pdlrt::stopSignals(); }
};

} // namespace

WaitEnvironment &pdlrt::processEnvironment() {
  static ProcessEnvironment environment;
  return environment;
}

/// Returns the decision of the first process. Sets `isStopRequested` to true in
/// all processes if it is true in one of them. All processes must call this.
Expected<LastSave::Decision> LastSave::share(Decision own) {
  std::vector<int64_t> shared = {job.rank() == 0 ? int64_t(own) : 0,
                                 isStopRequested};
  PDLRT_RETURN_IF_ERROR(job.sum(shared, {}));
  isStopRequested = shared[1] > 0;
  return Decision(shared[0]);
}

/// Waits for `pause` before the last save is repeated. Ends early if a process
/// has received more than `handledSignals` stop signals. All processes must
/// call this.
Expected<LastSave::Decision> LastSave::waitForRetry(Time::duration pause,
                                                    int handledSignals) {
  constexpr std::chrono::milliseconds slice(200);
  const Time end = environment.now() + pause;
  while (true) {
    isStopRequested = environment.stopSignals() != handledSignals;
    const Time now = environment.now();
    const Expected<Decision> decision =
        share(now < end ? Decision::Wait : Decision::TryAgain);
    if (!decision || *decision != Decision::Wait || isStopRequested)
      return decision;
    if (job.rank() == 0)
      environment.sleep(std::min<Time::duration>(slice, end - now));
  }
}

/// Returns what this process would decide if it were the first. `wasStopped`:
/// the user has requested a stop, so the own folder is not tried again.
LastSave::Decision LastSave::decide(const Rules &rules, const Outcome &outcome,
                                    int64_t retries, bool wasStopped) const {
  if (!target.isUnsaved())
    return Decision::Saved;
  if (!rules.mayRetry || outcome.isElsewhere)
    return Decision::GiveUp;
  if (!wasStopped && retries < rules.maxRetries)
    return Decision::TryAgain;
  return rules.hasElsewhere ? Decision::TryElsewhere : Decision::GiveUp;
}

Expected<LastSave::Outcome> LastSave::run(const Rules &rules) {
  constexpr std::chrono::milliseconds longestPause(30'000);
  constexpr std::chrono::seconds patienceOfStop(5);
  std::chrono::milliseconds pause(500);
  isStopRequested = false;
  // A signal that arrives from now on ends the retries, at any moment.
  const int handledSignals = environment.stopSignals();
  const Time begin = environment.now();
  Outcome outcome;
  int64_t retries = 0;
  while (true) {
    const bool wasStopped =
        isStopRequested || (rules.isHurried && environment.isStopping() &&
                            environment.now() + pause > begin + patienceOfStop);
    const Decision own = decide(rules, outcome, retries, wasStopped);
    if (job.rank() == 0 && own == Decision::TryAgain)
      logInfo(fmt::format("trying to save the last checkpoint again in {:.1f} "
                          "s, up to {} times more; a stop signal ends that",
                          std::chrono::duration<double>(pause).count(),
                          rules.maxRetries - retries));
    Expected<Decision> decision =
        rules.mayRetry ? share(own) : Expected<Decision>(own);
    if (decision && *decision == Decision::TryAgain) {
      decision = waitForRetry(pause, handledSignals);
      if (decision && isStopRequested) {
        if (job.rank() == 0)
          logWarning(
              "a stop signal ends the tries to save the last checkpoint");
        continue;
      }
    }
    if (!decision)
      return decision.status();
    outcome.hasGivenUp = *decision == Decision::GiveUp;
    if (outcome.hasGivenUp || *decision == Decision::Saved)
      return outcome;
    pause = std::min(2 * pause, longestPause);
    ++retries;
    const bool elsewhere = *decision == Decision::TryElsewhere;
    outcome.isElsewhere |= elsewhere;
    PDLRT_RETURN_IF_ERROR(target.retry(elsewhere));
  }
}
