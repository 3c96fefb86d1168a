//===- ReadinessTest.cpp - Tests of readiness and process metrics ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Readiness.h"

#include "pdlrt/Core/ProcessMetrics.h"

#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <string>

using namespace pdlrt;

TEST(ReadinessTest, aReasonHoldsUntilItIsDropped) {
  Readiness readiness;
  EXPECT_TRUE(readiness.reasons().empty());
  Readiness::Reason reason(readiness);
  reason.set("waits for server 1");
  ASSERT_EQ(readiness.reasons().size(), 1u);
  const auto since = readiness.reasons()[0].since;
  // A new text does not change the time.
  reason.set("waits for server 2");
  ASSERT_EQ(readiness.reasons().size(), 1u);
  EXPECT_EQ(readiness.reasons()[0].text, "waits for server 2");
  EXPECT_EQ(readiness.reasons()[0].since, since);
  reason.set("");
  EXPECT_TRUE(readiness.reasons().empty());
  reason.drop();
  {
    Readiness::Reason other(readiness);
    other.set("loads");
    EXPECT_EQ(readiness.reasons().size(), 1u);
  }
  EXPECT_TRUE(readiness.reasons().empty());
}

TEST(ReadinessTest, reasonsAreOrderedByTime) {
  Readiness readiness;
  Readiness::Reason late(readiness), early(readiness);
  const auto now = Readiness::Clock::now();
  late.set("late", now);
  early.set("early", now - std::chrono::seconds(9));
  const auto reasons = readiness.reasons();
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].text, "early");
  EXPECT_EQ(reasons[0].since, now - std::chrono::seconds(9));
  EXPECT_EQ(reasons[1].text, "late");
}

TEST(ReadinessTest, theFirstFailureStays) {
  Readiness readiness;
  EXPECT_EQ(readiness.failure(), "");
  readiness.fail("the disk is full");
  readiness.fail("the job has failed");
  EXPECT_EQ(readiness.failure(), "the disk is full");
}

TEST(ProcessMetricsTest, readsTheValuesOfThisProcess) {
  updateProcessMetrics();
  const auto valueOf = [](const std::string &name) {
    for (const MetricRegistry::Sample &sample : processMetrics().samples())
      if (sample.name == name)
        return std::stod(sample.value);
    return -1.0;
  };
  EXPECT_GT(valueOf("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GE(valueOf("process_virtual_memory_bytes"),
            valueOf("process_resident_memory_bytes"));
  EXPECT_GE(valueOf("process_open_fds"), 3);
  EXPECT_GT(valueOf("process_max_fds"), valueOf("process_open_fds"));
  EXPECT_GE(valueOf("process_threads"), 1);
  const double now = std::chrono::duration<double>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  EXPECT_GT(valueOf("process_start_time_seconds"), now - 3600);
  EXPECT_LT(valueOf("process_start_time_seconds"), now + 2);
  // CPU time is counted, and an update does not count it twice.
  const double before = valueOf("process_cpu_seconds_total");
  updateProcessMetrics();
  EXPECT_GE(valueOf("process_cpu_seconds_total"), before);
  EXPECT_LT(valueOf("process_cpu_seconds_total"), before + 60);
}

TEST(ProcessMetricsTest, buildInfoHasLabels) {
  const Gauge info = addBuildInfo("deep", "sync", "3", "server");
  EXPECT_NE(processMetrics().text().find(
                "pdl_build_info{mode=\"sync\",model=\"deep\",rank=\"3\","
                "role=\"server\"} 1\n"),
            std::string::npos);
}
