//===- WaitReportTest.cpp - Lines about waits for servers -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/WaitReport.h"

#include <gmock/gmock.h>

using namespace pdlrt;
using testing::ElementsAre;

TEST(WaitReportTest, OnlySecondsAreLeftOut) {
  EXPECT_EQ(withoutSeconds("trainer 12 (3 s; process 17, 40 s)"),
            "trainer 12 ( s; process 17,  s)");
  EXPECT_EQ(withoutSeconds("10.0.0.1:7101: 5 servers, 20 s"),
            "10.0.0.1:7101: 5 servers,  s");
  EXPECT_EQ(withoutSeconds(""), "");
  EXPECT_EQ(withoutSeconds("7"), "7");
}

TEST(WaitReportTest, ServersWithOneReasonShareItsText) {
  EXPECT_EQ(describeWaits({{"server a", "waiting for trainer 1 (5 s)"},
                           {"server b", "no answer yet"},
                           {"server c", "waiting for trainer 1 (6 s)"},
                           {"server d", "waiting for trainer 2 (5 s)"}}),
            "server a, server c: waiting for trainer 1 (5 s); server b: no "
            "answer yet; server d: waiting for trainer 2 (5 s)");
  std::vector<std::pair<std::string, std::string>> many;
  for (char name = 'a'; name < 'i'; ++name)
    many.emplace_back(std::string("server ") + name, "no answer yet");
  EXPECT_EQ(describeWaits(many),
            "server a, server b and 6 others: no answer yet");
  many.resize(3);
  EXPECT_EQ(describeWaits(many), "server a, server b, server c: no answer yet");
  EXPECT_EQ(describeWaits({}), "");
}

TEST(WaitReportTest, SendersOfAProcessWriteALineOnce) {
  std::vector<std::string> written;
  WaitReport report([&](const std::string &line) { written.push_back(line); },
                    std::chrono::seconds(2));
  const auto at = [](int seconds) {
    return WaitReport::Time(std::chrono::seconds(seconds));
  };
  report.report("server a: no answer yet (5 s)", at(10));
  report.report("server a: no answer yet (6 s)", at(11));
  report.report("server b: no answer yet (6 s)", at(11));
  report.report("server a: no answer yet (7 s)", at(12));
  EXPECT_THAT(written, ElementsAre("server a: no answer yet (5 s)",
                                   "server b: no answer yet (6 s)",
                                   "server a: no answer yet (7 s)"));
}
