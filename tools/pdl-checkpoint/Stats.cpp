//===- Stats.cpp - The command stats --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stats.h"

#include "Common.h"
#include "Distribution.h"
#include "PathFlags.h"
#include "Tables.h"
#include "pdlrt/Core/ProgramMain.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

/// Distributions of the rows of a table.
struct TableStats {
  std::string table;
  int64_t rows = 0, waiting = 0;
  /// Distributions by name, in the order of the output.
  std::vector<std::pair<std::string, Distribution>> of;
};

} // namespace

static constexpr double shownPercents[] = {1, 5, 25, 50, 75, 95, 99, 99.9};
static constexpr int buckets = 16;

static Expected<TableStats> statsOf(const Checkpoint &checkpoint,
                                    const CheckpointSymbol &symbol) {
  const Expected<TableScan> scan = TableScan::open(checkpoint, symbol);
  PDLRT_RETURN_IF_ERROR(scan.status());
  TableStats stats = {symbol.name, 0, 0, {}};
  Distribution norms, ages, scores, waitingCounts, waitingAges;
  const std::vector<size_t> slots = countSlots(*scan);
  std::vector<Distribution> counts(slots.size());
  PDLRT_RETURN_IF_ERROR(scan->forEach([&](const ScannedRow &row) -> Status {
    if (row.isWaiting) {
      ++stats.waiting;
      waitingCounts.add(double(row.count));
      if (row.age)
        waitingAges.add(double(*row.age));
      return {};
    }
    ++stats.rows;
    norms.add(normOf(row));
    for (size_t s = 0; s < slots.size(); ++s)
      counts[s].add(row.slots[slots[s]].front());
    if (row.age)
      ages.add(double(*row.age));
    if (row.score)
      scores.add(*row.score);
    return {};
  }));
  const auto add = [&](const std::string &name, Distribution &found) {
    if (found.count() + found.notFinite() > 0)
      stats.of.emplace_back(name, std::move(found));
  };
  add("norm", norms);
  for (size_t s = 0; s < slots.size(); ++s)
    add("slot " + symbol.slots[slots[s]], counts[s]);
  add("score", scores);
  add("age", ages);
  add("waiting count", waitingCounts);
  add("waiting age", waitingAges);
  return stats;
}

static nlohmann::ordered_json jsonOf(const Distribution &found) {
  nlohmann::ordered_json object = {{"count", found.count()},
                                   {"not_finite", found.notFinite()}};
  if (found.count() == 0)
    return object;
  object["min"] = found.min();
  object["max"] = found.max();
  object["mean"] = found.mean();
  for (double percent : shownPercents)
    object["percentiles"][fmt::format("{}", percent)] =
        found.percentile(percent);
  for (const Distribution::Bucket &bucket : found.histogram(buckets))
    object["histogram"].push_back(
        {{"from", bucket.from}, {"to", bucket.to}, {"count", bucket.count}});
  return object;
}

static nlohmann::ordered_json jsonOf(const TableStats &stats) {
  nlohmann::ordered_json object = {
      {"table", stats.table},
      {"rows", stats.rows},
      {"waiting", stats.waiting},
      {"distributions", nlohmann::ordered_json::object()}};
  for (const auto &[name, found] : stats.of)
    object["distributions"][name] = jsonOf(found);
  return object;
}

static void printDistribution(const std::string &name,
                              const Distribution &found) {
  std::string others;
  if (found.notFinite() > 0)
    others = fmt::format(", {} not finite", found.notFinite());
  if (found.count() == 0)
    return print(fmt::format("  {}: no finite numbers{}", name, others));
  print(fmt::format("  {}: min {:.6g}, mean {:.6g}, max {:.6g}{}", name,
                    found.min(), found.mean(), found.max(), others));
  std::string line = "   ";
  for (double percent : shownPercents)
    line += fmt::format(" p{} {:.6g}", percent, found.percentile(percent));
  print(line);
  const std::vector<Distribution::Bucket> all = found.histogram(buckets);
  const int64_t most =
      std::ranges::max_element(all, {}, &Distribution::Bucket::count)->count;
  constexpr int64_t maxWidth = 40;
  for (const Distribution::Bucket &bucket : all) {
    // Buckets with few numbers get a bar too.
    const int64_t width = (bucket.count * maxWidth + most - 1) / most;
    print(fmt::format("    {:>10.4g} to {:>10.4g} {:>12} {}", bucket.from,
                      bucket.to, bucket.count,
                      std::string(size_t(width), '#')));
  }
}

int showStats(const StatsFlags &flags) {
  const Expected<Checkpoint> checkpoint = openNamed(flags.checkpoint);
  if (!checkpoint)
    return fail(checkpoint.status());
  std::vector<const CheckpointSymbol *> tables;
  if (!flags.table.empty()) {
    const Expected<const CheckpointSymbol *> named =
        tableNamed(*checkpoint, flags.table);
    if (!named)
      return failUsage(named.status());
    tables.push_back(*named);
  } else {
    for (const CheckpointSymbol &symbol : checkpoint->manifest().symbols)
      if (symbol.isTable)
        tables.push_back(&symbol);
  }
  nlohmann::ordered_json object = {{"checkpoint", checkpoint->path()},
                                   {"tables", nlohmann::ordered_json::array()}};
  for (const CheckpointSymbol *table : tables) {
    const Expected<TableStats> stats = statsOf(*checkpoint, *table);
    if (!stats)
      return fail(stats.status());
    if (flags.isJson) {
      object["tables"].push_back(jsonOf(*stats));
      continue;
    }
    print(fmt::format("table @{}: {} rows, {} keys wait for rows", stats->table,
                      stats->rows, stats->waiting));
    for (const auto &[name, found] : stats->of)
      printDistribution(name, found);
  }
  if (flags.isJson)
    print(object.dump(2));
  return 0;
}

CommandTable statsTable(StatsFlags &flags) {
  return {"stats",
          "Show percentiles and histograms of each table: of the norms of "
          "rows, of counts such as shows and clicks, of scores, and of the "
          "periods since a row's last update. Percentiles are too small by at "
          "most 0.05 %",
          {{mainOptions,
            {pathFlag("checkpoint", flags.checkpoint, "The checkpoint"),
             tableFlag(flags.table, "Show only this table"),
             jsonFlag(flags.isJson)}}}};
}
