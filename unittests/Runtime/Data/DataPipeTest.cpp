//===- DataPipeTest.cpp - Files that are read through a command -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DelimitedFixture.h"

#include "gmock/gmock.h"

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class DataPipeTest : public DelimitedFixture {
protected:
  void SetUp() override {
    DelimitedFixture::SetUp();
    record.dense("x");
  }
  DataOptions optionsOf(const std::string &text, const std::string &pipe) {
    DataOptions options;
    options.files = {put("a.csv", text)};
    options.pipe = pipe;
    return options;
  }
};

TEST_F(DataPipeTest, TheOutputIsTheData) {
  EXPECT_THAT(values<float>(readAll(optionsOf("1\n2\n", "sed s/2/7/")), 0),
              ElementsAre(1, 7));
  // Packed output is recognized, whatever the name of the file is.
  EXPECT_THAT(values<float>(readAll(optionsOf("1\n2\n", "gzip -c")), 0),
              ElementsAre(1, 2));
}

TEST_F(DataPipeTest, TheCommandMayFindTheFileItself) {
  DataOptions options = optionsOf("", "echo 5; basename \"$FILE\" .csv");
  options.files = {"far://away/6.csv", "far://away/7.csv"};
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(5, 6, 5, 7));
}

TEST_F(DataPipeTest, AFailureNamesFileStatusAndOutput) {
  const std::string message =
      errorOf(optionsOf("1\n", "cat; echo no such; echo block >&2; exit 3"));
  EXPECT_THAT(message, HasSubstr("a.csv:2:1: field `x`: `no such`"));
  EXPECT_THAT(
      errorOf(optionsOf("1\n", "cat; echo no >&2; echo block >&2; exit 3")),
      HasSubstr("a.csv: --data-pipe `cat; echo no >&2; echo block >&2; exit 3` "
                "exited with status 3: no | block"));
  EXPECT_THAT(errorOf(optionsOf("1\n", "kill -9 $$")),
              HasSubstr("was ended by signal 9, without a word"));
  EXPECT_THAT(errorOf(optionsOf("1\n", "no-such-command")),
              HasSubstr("exited with status 127: "));
}

TEST_F(DataPipeTest, EachPassRunsItAgainAndPositionsAreExact) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i) + "\n";
  DataOptions options = optionsOf(text, "cat");
  options.batchSize = 6;
  auto source = open(options);
  Batch batch;
  for (int epoch = 0; epoch < 2; ++epoch) {
    ASSERT_TRUE(source->beginEpoch(epoch).ok());
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(*source->next(0, batch));
  }
  auto resumed = open(options);
  ASSERT_TRUE(resumed->restore(source->position()).ok());
  ASSERT_TRUE(*resumed->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(18, 19, 20, 21, 22, 23));
}

// A command that never ends does not outlive the reader.
TEST_F(DataPipeTest, TheRestIsNotAwaited) {
  DataOptions options = optionsOf("", "while :; do echo 1; done");
  options.batchSize = 10;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_EQ(batch.size(), 10);
}

TEST_F(DataPipeTest, SafetensorsHaveNoCommand) {
  DataOptions options;
  options.files = {"a.safetensors"};
  options.pipe = "cat";
  EXPECT_THAT(errorOf(options), HasSubstr("not through --data-pipe"));
}

} // namespace
