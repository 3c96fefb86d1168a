//===- pdl-simulate.cpp - Jobs on networks that fail ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs simulated jobs of trainers and servers by seed and checks that each
// request counted once. A seed that fails is shown with --print.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Simulator/Checker.h"
#include "pdlrt/Simulator/Simulation.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace pdlrt;

namespace {

struct Totals {
  uint64_t jobs = 0, wrong = 0, events = 0;
  FaultCounts faults;
  ClockTime longest{0};
};

void runSeed(uint64_t seed, bool print, Totals &totals) {
  const Scenario scenario = scenarioOfSeed(seed);
  const SimulationResult result = simulate(scenario);
  const std::string fault = checkHistory(scenario, result.history);
  ++totals.jobs;
  totals.events += result.history.size();
  totals.faults.drops += result.faults.drops;
  totals.faults.delays += result.faults.delays;
  totals.faults.duplicates += result.faults.duplicates;
  totals.faults.disconnects += result.faults.disconnects;
  totals.longest = std::max(totals.longest, result.duration);
  if (print || !fault.empty())
    std::printf("%s\n", scenario.describe().c_str());
  if (print)
    for (const Event &event : result.history)
      std::printf("%s\n", event.describe().c_str());
  if (!fault.empty()) {
    ++totals.wrong;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                fault.c_str());
  }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("pdl-simulate: simulated jobs of trainers and servers on "
               "networks that lose, delay, double and reorder messages");
  std::string seeds = "1-2000";
  bool print = false;
  app.add_option("--seeds", seeds, "A seed, or the first and the last: 1-2000")
      ->capture_default_str()
      ->check([](const std::string &text) {
        uint64_t first = 0;
        uint64_t last = 0;
        char rest = 0;
        const int count =
            std::sscanf(text.c_str(), "%lu-%lu%c", &first, &last, &rest);
        const bool isOne =
            text.find_first_not_of("0123456789") == std::string::npos;
        return isOne || (count == 2 && first <= last)
                   ? std::string()
                   : "must be a number, or two like 1-2000, not '" + text + "'";
      });
  app.add_flag("--print", print, "Print what happens");
  CLI11_PARSE(app, argc, argv);

  const size_t dash = seeds.find('-');
  const uint64_t first = std::stoull(seeds);
  const uint64_t last =
      dash == std::string::npos ? first : std::stoull(seeds.substr(dash + 1));
  Totals totals;
  for (uint64_t seed = first; seed <= last; ++seed)
    runSeed(seed, print, totals);
  std::printf("%llu jobs, %llu wrong; %llu events, %llu messages lost, %llu "
              "delayed, %llu doubled, %llu disconnects; longest job %.0f s of "
              "virtual time\n",
              static_cast<unsigned long long>(totals.jobs),
              static_cast<unsigned long long>(totals.wrong),
              static_cast<unsigned long long>(totals.events),
              static_cast<unsigned long long>(totals.faults.drops),
              static_cast<unsigned long long>(totals.faults.delays),
              static_cast<unsigned long long>(totals.faults.duplicates),
              static_cast<unsigned long long>(totals.faults.disconnects),
              std::chrono::duration<double>(totals.longest).count());
  return totals.wrong == 0 ? 0 : 1;
}
