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

#include "pdlrt/Testing/Simulator/Checker.h"
#include "pdlrt/Testing/Simulator/Simulation.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>

using namespace pdlrt;

namespace {

struct SeedRange {
  uint64_t first = 1;
  uint64_t last = 0;
};

/// "7", or "1-2000".
std::optional<SeedRange> parseSeeds(const std::string &text) {
  SeedRange range;
  const char *const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, range.first);
  if (read.ec != std::errc())
    return std::nullopt;
  range.last = range.first;
  if (read.ptr != end) {
    if (*read.ptr != '-')
      return std::nullopt;
    read = std::from_chars(read.ptr + 1, end, range.last);
  }
  if (read.ec != std::errc() || read.ptr != end || range.last < range.first)
    return std::nullopt;
  return range;
}

struct Totals {
  uint64_t jobs = 0, wrong = 0, events = 0;
  FaultCounts faults;
  ClockTime longest{0};
};

void runSeed(uint64_t seed, std::optional<ToyMode> mode, bool print,
             Totals &totals) {
  const Scenario scenario =
      mode ? scenarioOfSeed(seed, *mode) : scenarioOfSeed(seed);
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
        return parseSeeds(text)
                   ? std::string()
                   : "must be a number, or two like 1-2000, not '" + text + "'";
      });
  std::string mode;
  app.add_option("--mode", mode, "Whose jobs (default: sync and async, drawn)")
      ->check(CLI::IsMember(toyModeNames()));
  app.add_flag("--print", print, "Print what happens");
  CLI11_PARSE(app, argc, argv);

  Totals totals;
  const auto range = parseSeeds(seeds).value_or(SeedRange());
  for (uint64_t seed = range.first; seed <= range.last; ++seed)
    runSeed(seed, toyModeOf(mode), print, totals);
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
