//===- MetricRegistryTest.cpp - Counters, gauges and histograms -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/MetricRegistry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

static MetricInfo info(const char *name, std::vector<std::string> labels = {},
                       AfterLastCell after = AfterLastCell::Keep) {
  return {.name = name,
          .unit = "things",
          .help = "Things",
          .labels = std::move(labels),
          .afterLastCell = after};
}

TEST(MetricRegistry, SumsTheCellsOfALabelSet) {
  MetricRegistry registry;
  const CounterFamily family(info("things_total", {"kind"}), registry);
  Counter first = family.add({"a"}), second = family.add({"a"}),
          other = family.add({"b"});
  ++first;
  first += 2;
  second.add(10);
  EXPECT_EQ(first.value(), 3);
  EXPECT_EQ(registry.text(), "# HELP things_total Things\n"
                             "# TYPE things_total counter\n"
                             "things_total{kind=\"a\"} 13\n"
                             "things_total{kind=\"b\"} 0\n");
}

TEST(MetricRegistry, CountersKeepTheCountsOfObjectsThatEnded) {
  MetricRegistry registry;
  const CounterFamily family(info("things_total"), registry);
  for (int i = 0; i < 3; ++i)
    family.add().add(5);
  EXPECT_THAT(registry.text(), HasSubstr("\nthings_total 15\n"));
  Counter later = family.add();
  EXPECT_EQ(later.value(), 0);
  ++later;
  EXPECT_THAT(registry.text(), HasSubstr("\nthings_total 16\n"));
}

TEST(MetricRegistry, RemovesLabelSetsThatAreNotToStay) {
  MetricRegistry registry;
  const CounterFamily family(
      info("things_total", {"version"}, AfterLastCell::Remove), registry);
  {
    std::optional<Counter> first = family.add({"1"});
    Counter second = family.add({"1"});
    first->add(2);
    first.reset();
    // The other cell keeps the label set.
    EXPECT_THAT(registry.text(), HasSubstr("{version=\"1\"} 2\n"));
  }
  EXPECT_EQ(registry.text(), "");
}

TEST(MetricRegistry, GaugesEndWithTheirObject) {
  MetricRegistry registry;
  const GaugeFamily family(info("things", {"kind"}), registry);
  Gauge first = family.add({"a"});
  {
    Gauge second = family.add({"a"}), other = family.add({"b"});
    first.set(7.5);
    second.set(2);
    second.add(-1);
    EXPECT_THAT(registry.text(), HasSubstr("{kind=\"a\"} 8.5\n"));
  }
  EXPECT_EQ(
      registry.text(),
      "# HELP things Things\n# TYPE things gauge\nthings{kind=\"a\"} 7.5\n");
}

TEST(MetricRegistry, HistogramsCountUpToTheBound) {
  MetricRegistry registry;
  const HistogramFamily family({.name = "seconds",
                                .unit = "seconds",
                                .help = "Time",
                                .labels = {"kind"},
                                .bounds = {0.00005, 1, 2}},
                               registry);
  Histogram histogram = family.add({"a"});
  for (const double value : {0.5, 1.0, 1.5, 100.0})
    histogram.observe(value);
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_EQ(histogram.sum(), 103);
  EXPECT_EQ(registry.text(), "# HELP seconds Time\n"
                             "# TYPE seconds histogram\n"
                             "seconds_bucket{kind=\"a\",le=\"5e-05\"} 0\n"
                             "seconds_bucket{kind=\"a\",le=\"1\"} 2\n"
                             "seconds_bucket{kind=\"a\",le=\"2\"} 3\n"
                             "seconds_bucket{kind=\"a\",le=\"+Inf\"} 4\n"
                             "seconds_sum{kind=\"a\"} 103\n"
                             "seconds_count{kind=\"a\"} 4\n");
  // A value that is no number is in no bucket with a bound.
  histogram.observe(std::nan(""));
  EXPECT_THAT(registry.text(), HasSubstr("le=\"2\"} 3\n"));
  EXPECT_THAT(registry.text(), HasSubstr("seconds_sum{kind=\"a\"} NaN\n"));
}

TEST(MetricRegistry, EscapesWhatTheFormatRequires) {
  MetricRegistry registry;
  const GaugeFamily family({.name = "things",
                            .unit = "",
                            .help = "A \\ and\na \"line\"",
                            .labels = {"kind"}},
                           registry);
  Gauge gauge = family.add({"a \\ and\na \"line\""});
  EXPECT_EQ(registry.text(),
            "# HELP things A \\\\ and\\na \"line\"\n"
            "# TYPE things gauge\n"
            "things{kind=\"a \\\\ and\\na \\\"line\\\"\"} 0\n");
  gauge.set(std::numeric_limits<double>::infinity());
  EXPECT_THAT(registry.text(), HasSubstr("} +Inf\n"));
  gauge.set(-std::numeric_limits<double>::infinity());
  EXPECT_THAT(registry.text(), HasSubstr("} -Inf\n"));
}

TEST(MetricRegistry, NumbersAreExact) {
  MetricRegistry registry;
  const CounterFamily whole(info("whole_total"), registry);
  const RealCounterFamily real(info("real_total"), registry);
  Counter large = whole.add();
  large.add(9007199254740993);
  RealCounter sum = real.add();
  sum += 0.1;
  sum += 0.2;
  EXPECT_EQ(sum.value(), 0.1 + 0.2);
  EXPECT_THAT(registry.text(), HasSubstr("\nwhole_total 9007199254740993\n"));
  EXPECT_THAT(registry.text(), HasSubstr("\nreal_total 0.30000000000000004\n"));
}

TEST(MetricRegistry, DescribesAllFamiliesAlsoWithoutValues) {
  MetricRegistry registry;
  const GaugeFamily second(info("second"), registry);
  const CounterFamily first(info("first_total", {"a", "b"}), registry);
  EXPECT_EQ(registry.description(),
            "first_total\tcounter\tthings\ta,b\tThings\n"
            "second\tgauge\tthings\t\tThings\n");
  EXPECT_EQ(registry.text(), "");
}

TEST(MetricRegistry, HandlesMayBeMovedAndOutliveTheRegistry) {
  auto registry = std::make_unique<MetricRegistry>();
  auto family = std::make_unique<CounterFamily>(info("things_total", {"kind"}),
                                                *registry);
  Counter counter = family->add({"a"});
  std::vector<Counter> counters;
  counters.push_back(std::move(counter));
  counters.push_back(family->add({"b"}));
  counters.front() += 3;
  EXPECT_THAT(registry->text(), HasSubstr("{kind=\"a\"} 3\n"));
  counters.front() = family->add({"c"});
  EXPECT_THAT(registry->text(), HasSubstr("{kind=\"a\"} 3\n"));
  EXPECT_THAT(registry->text(), HasSubstr("{kind=\"c\"} 0\n"));
  registry.reset();
  family.reset();
  counters.front() += 1;
  EXPECT_EQ(counters.front().value(), 1);
}

// This test is meant for the thread sanitizer.
TEST(MetricRegistry, ThreadsCountWhileAnotherOneCollects) {
  constexpr int threads = 4, updates = 20000;
  MetricRegistry registry;
  const CounterFamily counts(info("things_total", {"kind"}), registry);
  const RealCounterFamily amounts(info("amount_total"), registry);
  const HistogramFamily sizes(
      {.name = "sizes", .unit = "", .help = "Sizes", .bounds = {1, 10}},
      registry);
  Counter shared = counts.add({"shared"});
  std::atomic<int> running = threads;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&] {
      RealCounter amount = amounts.add();
      Histogram size = sizes.add();
      for (int i = 0; i < updates; ++i) {
        ++shared;
        amount += 0.5;
        size.observe(i);
        // Cells are added and removed.
        if (i % 100 == 0)
          counts.add({"short"}).add(1);
      }
      --running;
    });
  int64_t before = 0;
  while (running > 0)
    for (const MetricRegistry::Collected &family : registry.collect())
      if (family.info.name == "sizes") {
        // Counters never decrease.
        int64_t now = 0;
        for (const int64_t bucket : family.values.front().buckets)
          now += bucket;
        EXPECT_GE(now, before);
        before = now;
      }
  for (std::thread &worker : workers)
    worker.join();
  const std::string text = registry.text();
  EXPECT_THAT(text, HasSubstr("things_total{kind=\"shared\"} 80000\n"));
  EXPECT_THAT(text, HasSubstr("things_total{kind=\"short\"} 800\n"));
  EXPECT_THAT(text, HasSubstr("amount_total 40000\n"));
  EXPECT_THAT(text, HasSubstr("sizes_count 80000\n"));
}

TEST(MetricRegistry, CountersNeverDecreaseWhenObjectsEnd) {
  MetricRegistry registry;
  const CounterFamily family(info("things_total"), registry);
  std::optional<Counter> counter = family.add();
  counter->add(4);
  const auto value = [&] { return registry.collect().front().values; };
  EXPECT_EQ(value().front().whole, 4);
  counter.reset();
  EXPECT_EQ(value().front().whole, 4);
  EXPECT_THAT(value().front().labels, ElementsAre());
  EXPECT_THAT(registry.text(), Not(HasSubstr("{")));
}
