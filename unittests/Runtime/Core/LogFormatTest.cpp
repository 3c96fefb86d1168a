//===- LogFormatTest.cpp - Tests of the format of log lines ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/LogFormat.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

using namespace pdlrt;

namespace {

/// Restores the format of the process.
class LogFormatTest : public testing::Test {
protected:
  ~LogFormatTest() override { logFormat() = LogFormat::Text; }

  static LogFormat taken(std::vector<const char *> words) {
    logFormat() = LogFormat::Text;
    words.insert(words.begin(), "trainer");
    takeLogFormat(int(words.size()), words.data());
    return logFormat();
  }
};

} // namespace

TEST_F(LogFormatTest, isTakenFromTheCommandLine) {
  EXPECT_EQ(taken({"train", "--log-format", "json"}), LogFormat::Json);
  EXPECT_EQ(taken({"--log-format=quiet", "--epochs", "2"}), LogFormat::Quiet);
  EXPECT_EQ(taken({"--log-format=json", "--log-format", "text"}),
            LogFormat::Text);
}

TEST_F(LogFormatTest, ignoresOtherWords) {
  EXPECT_EQ(taken({}), LogFormat::Text);
  EXPECT_EQ(taken({"--log-format"}), LogFormat::Text);
  EXPECT_EQ(taken({"--log-format", "xml"}), LogFormat::Text);
  EXPECT_EQ(taken({"--log-formats=json"}), LogFormat::Text);
  EXPECT_EQ(taken({"out/", "--", "--log-format", "json"}), LogFormat::Text);
}

TEST_F(LogFormatTest, lineIsAnObject) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<LogField> fields = {
      {"step", 12}, {"loss", 0.5}, {"auc", none}};
  const std::string text =
      jsonLogLine({"trainer", 3}, "progress", "a \"quote\",\nlines", fields);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const nlohmann::json line = nlohmann::json::parse(text);
  EXPECT_EQ(line.at("level"), "progress");
  EXPECT_EQ(line.at("program"), "trainer");
  EXPECT_EQ(line.at("rank"), 3);
  EXPECT_EQ(line.at("message"), "a \"quote\",\nlines");
  EXPECT_EQ(line.at("step"), 12);
  EXPECT_EQ(line.at("loss"), 0.5);
  EXPECT_FALSE(line.contains("auc"));
  const std::string time = line.at("time");
  EXPECT_EQ(time.size(), std::string("2026-11-30T12:00:03.125Z").size());
  EXPECT_TRUE(time.ends_with('Z')) << time;
}

TEST_F(LogFormatTest, countsAreWholeNumbers) {
  const std::vector<LogField> fields = {
      {"step", 1200}, {"change", -3}, {"loss", 0.5}, {"large", 1e300}};
  const nlohmann::json line =
      nlohmann::json::parse(jsonLogLine({}, "progress", "text", fields));
  EXPECT_EQ(line.at("step").dump(), "1200");
  EXPECT_EQ(line.at("change").dump(), "-3");
  EXPECT_EQ(line.at("loss").dump(), "0.5");
  EXPECT_EQ(line.at("large").dump(), "1e+300");
}

TEST_F(LogFormatTest, unloggedWarningHasTheFormat) {
  logFormat() = LogFormat::Text;
  EXPECT_EQ(unloggedWarning("lost"), "warning: lost\n");
  logFormat() = LogFormat::Json;
  const nlohmann::json line = nlohmann::json::parse(unloggedWarning("lost"));
  EXPECT_EQ(line.at("level"), "warning");
  EXPECT_EQ(line.at("message"), "lost");
}

TEST_F(LogFormatTest, lineHasNoRankOfAProgramWithoutRank) {
  const nlohmann::json line = nlohmann::json::parse(
      jsonLogLine({"pdl-serve", std::nullopt}, "info", "listens"));
  EXPECT_FALSE(line.contains("rank"));
}

TEST_F(LogFormatTest, replacesBytesThatAreNotText) {
  const nlohmann::json line = nlohmann::json::parse(jsonLogLine({}, "error",
                                                                "a\xff"
                                                                "b"));
  EXPECT_EQ(line.at("message"), "a\xef\xbf\xbd"
                                "b");
}
