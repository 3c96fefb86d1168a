//===- pdl-simulate.cpp - Simulates jobs on unreliable networks -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs simulated jobs of trainers and servers by seed and checks that each
// request counted exactly once. --print shows the events of a failing seed.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/ProgramMain.h"
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

/// Parses "7" or "1-2000".
Expected<SeedRange> parseSeeds(const std::string &text) {
  const Status wrong = Status::invalidArgument(
      "must be a number, or two like 1-2000, not '" + text + "'");
  SeedRange range;
  const char *const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, range.first);
  if (read.ec != std::errc())
    return wrong;
  range.last = range.first;
  if (read.ptr != end) {
    if (*read.ptr != '-')
      return wrong;
    read = std::from_chars(read.ptr + 1, end, range.last);
  }
  if (read.ec != std::errc() || read.ptr != end || range.last < range.first)
    return wrong;
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

static int run(int argc, char **argv) {
  CLI::App app(
      "Runs the protocol of trainers and servers on simulated networks that "
      "lose, delay, duplicate and\nreorder messages. A seed determines the "
      "job and its faults. Each history is checked: no gradient\nis lost or "
      "counted twice, and rounds and bounds hold (docs/Protocol.md).",
      "pdl-simulate");
  addHelpAndVersion(app);
  app.footer("Examples:\n"
             "  pdl-simulate --seeds 1-2000 --mode quorum\n"
             "  pdl-simulate --seeds 17 --print      (all events of one job)\n"
             "Exit status: 0 all jobs are right; 1 a job is wrong, whose seed "
             "is printed; 2 wrong flags.");
  SeedRange range = {1, 2000};
  std::string mode;
  bool print = false;
  addFlags(app, {{mainOptions,
                  {{.names = "--seeds",
                    .placeholder = "SEEDS",
                    .value = FlagValue::parsed(range, parseSeeds, "1-2000"),
                    .help = "A seed, or the first and the last: 1-2000"},
                   {.names = "--mode",
                    .placeholder = "MODE",
                    .value = FlagValue::oneOf(mode, toyModeNames()),
                    .help = "Mode of the jobs (default: sync or async, drawn "
                            "by the seed)"},
                   {.names = "--print",
                    .value = FlagValue::isGiven(print),
                    .help = "Print all events"}}}});
  if (const std::optional<int> status =
          parseFlags(app, argc, argv, "'pdl-simulate --help' lists"))
    return *status;

  Totals totals;
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

int main(int argc, char **argv) {
  return runProgram("simulate fewer trainers, or use a machine with more of it",
                    [&] { return run(argc, argv); });
}
