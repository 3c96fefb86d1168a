//===- ServerMetricLog.cpp - Metrics of a server over time ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Server/ServerMetricLog.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Core/ProcessMemory.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

using namespace pdlrt;
using Json = nlohmann::ordered_json;

/// Members of a line that are sums over all cells of a registered family.
static constexpr std::pair<const char *, std::string_view> sums[] = {
    {"steps", "pdl_server_steps_total"},
    {"requests", "pdl_server_messages_total"},
    {"received_bytes", "pdl_server_received_bytes_total"},
    {"sent_bytes", "pdl_server_sent_bytes_total"},
    {"late_pushes", "pdl_server_late_pushes_total"},
    {"dropped_pushes", "pdl_server_dropped_pushes_total"},
    {"keys", "pdl_table_rows"},
    {"table_bytes", "pdl_table_bytes"},
    {"evicted_rows", "pdl_evicted_rows_total"},
};

Status ServerMetricLog::open(const std::string &path, bool appends,
                             double seconds, int64_t ofRank) {
  rank = ofRank;
  interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(seconds));
  next = Clock::now() + interval;
  // More lines than a file can have. The file adds its new lines to this
  // number.
  constexpr int64_t all = std::numeric_limits<int64_t>::max() / 2;
  return appends ? file.openAfter(path, all).status() : file.open(path);
}

void ServerMetricLog::update() {
  if (!file.isOpen() || Clock::now() < next)
    return;
  next = Clock::now() + interval;
  writeLine();
}

void ServerMetricLog::finish() {
  if (file.isOpen())
    writeLine();
  if (file.isOpen())
    note(file.close());
}

/// Returns the sum of a family's values. Its buckets are added, too.
static MetricValue sumOf(const MetricRegistry::Collected &family) {
  MetricValue sum;
  int64_t count = 0;
  for (const MetricValue &value : family.values) {
    sum.whole += value.whole;
    sum.real += value.real;
    for (const int64_t bucket : value.buckets)
      count += bucket;
  }
  sum.buckets = {count};
  return sum;
}

void ServerMetricLog::writeLine() {
  Json line = {{"time", currentTime()}, {"kind", "server"}, {"rank", rank}};
  for (const auto &[member, family] : sums)
    line[member] = 0;
  Json staleness, age;
  for (const MetricRegistry::Collected &family : processMetrics().collect()) {
    const MetricValue sum = sumOf(family);
    for (const auto &[member, name] : sums)
      if (family.info.name == name)
        line[member] = int64_t(std::llround(sum.value()));
    if (family.info.name == "pdl_server_staleness_steps" && sum.buckets[0] > 0)
      staleness = sum.value() / double(sum.buckets[0]);
    if (family.info.name == "pdl_checkpoint_last_success_timestamp_seconds")
      age = std::chrono::duration<double>(
                std::chrono::system_clock::now().time_since_epoch())
                .count() -
            sum.value();
  }
  line["mean_staleness_steps"] = std::move(staleness);
  line["checkpoint_age_seconds"] = std::move(age);
  line["resident_memory_bytes"] = residentBytes();
  note(file.write(line.dump()));
  // Readers follow the file while the server runs.
  if (file.isOpen())
    note(file.flush());
}

void ServerMetricLog::note(const Status &status) {
  if (status.ok())
    return;
  logWarning(status.message() +
             "; the server continues without --log-metrics; to write it "
             "again, correct the cause and restart the server");
  // Ignores a further error: the first one was just logged.
  static_cast<void>(file.close());
}
