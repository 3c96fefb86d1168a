//===- MetricTextTest.cpp - Text format as prometheus-cpp writes it -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the text format of MetricRegistry with that of a client library of
// Prometheus.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/MetricRegistry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

/// Returns the lines in an order that does not depend on that of families and
/// label sets.
static std::vector<std::string> sortedLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

TEST(MetricText, EqualsThatOfAClientLibrary) {
  pdlrt::MetricRegistry ours;
  prometheus::Registry theirs;
  // The library does not escape help texts, as the format requires.
  const std::string help = "A \"help\" text";
  const std::vector<double> bounds = {0.00005, 0.5, 1, 10, 1e6};

  const pdlrt::CounterFamily counters(
      {.name = "a_total", .unit = "", .help = help, .labels = {"a", "b"}},
      ours);
  const pdlrt::GaugeFamily gauges(
      {.name = "a_gauge", .unit = "", .help = help, .labels = {"a"}}, ours);
  const pdlrt::HistogramFamily histograms({.name = "a_seconds",
                                           .unit = "seconds",
                                           .help = help,
                                           .labels = {"a"},
                                           .bounds = bounds},
                                          ours);
  const pdlrt::CounterFamily unused(
      {.name = "unused_total", .unit = "", .help = help}, ours);
  auto &theirCounters =
      prometheus::BuildCounter().Name("a_total").Help(help).Register(theirs);
  auto &theirGauges =
      prometheus::BuildGauge().Name("a_gauge").Help(help).Register(theirs);
  auto &theirHistograms = prometheus::BuildHistogram()
                              .Name("a_seconds")
                              .Help(help)
                              .Register(theirs);
  prometheus::BuildCounter().Name("unused_total").Help(help).Register(theirs);

  std::vector<pdlrt::Counter> ownCounters;
  std::vector<pdlrt::Gauge> ownGauges;
  std::vector<pdlrt::Histogram> ownHistograms;
  for (const std::string label :
       {"", "plain", "with \"quotes\"", "with \\", "with\nlines", "ümlaut"}) {
    const double number = double(label.size());
    ownCounters.push_back(counters.add({label, "x"}));
    ownCounters.back().add(int64_t(1e9 * number));
    theirCounters.Add({{"a", label}, {"b", "x"}}).Increment(1e9 * number);
    ownGauges.push_back(gauges.add({label}));
    ownGauges.back().set(1 - 1.25 * number);
    theirGauges.Add({{"a", label}}).Set(1 - 1.25 * number);
    ownHistograms.push_back(histograms.add({label}));
    auto &theirHistogram = theirHistograms.Add({{"a", label}}, bounds);
    for (const double value : {0.25, 0.5, 1.0, 7.0, 10.0, 1e7, number}) {
      ownHistograms.back().observe(value);
      theirHistogram.Observe(value);
    }
  }
  for (const double infinite : {std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()}) {
    const std::string label = infinite > 0 ? "high" : "low";
    ownGauges.push_back(gauges.add({label}));
    ownGauges.back().set(infinite);
    theirGauges.Add({{"a", label}}).Set(infinite);
  }
  EXPECT_THAT(sortedLines(ours.text()),
              testing::ElementsAreArray(sortedLines(
                  prometheus::TextSerializer().Serialize(theirs.Collect()))));
}
