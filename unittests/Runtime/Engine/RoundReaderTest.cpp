//===- RoundReaderTest.cpp - Rounds of some groups of a job ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Engine/RoundReader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace pdlrt;

/// Returns the weights of a batch, which number the rows; empty without a
/// batch.
static std::vector<float> rowsOf(const StepInput &input) {
  if (input.samples == 0)
    return {};
  auto *weights = static_cast<const float *>(input.fields[FieldWeight].values);
  return {weights, weights + input.samples};
}

// A run that resumes at the begin of an epoch reads the whole epoch.
TEST(RoundReader, AnEpochStandsAtItsBeginBeforeItsFirstRound) {
  TestFolder folder;
  const std::string file = folder.write("rows.tsv", "1\t1\t0\t0\t0\ta\tb\n");
  const pdl_descriptor &descriptor = *handWrittenProgram({});
  DataOptions options;
  options.files = {file};
  options.batchSize = 4;
  auto reader =
      RoundReader::open(options, descriptor, *findProgram(descriptor, "train"),
                        ReplicaLayout::local(1, 1), /*readAhead=*/false);
  ASSERT_TRUE(reader.ok());
  DataPosition begin;
  for (int64_t epoch : {0, 1}) {
    ASSERT_TRUE((*reader)->beginEpoch(epoch).ok());
    begin.epoch = epoch;
    EXPECT_EQ((*reader)->positions()[0], begin);
    ASSERT_TRUE(*(*reader)->next());
    EXPECT_NE((*reader)->positions()[0], begin);
  }
  // The same holds if the epoch cannot be started.
  folder.write("rows.tsv", "");
  EXPECT_FALSE((*reader)->beginEpoch(2).ok());
  begin.epoch = 2;
  EXPECT_EQ((*reader)->positions()[0], begin);
}

// Processes with one group each read the same rows as one process with all
// groups.
TEST(RoundReader, GroupsOfAJobMayLiveInSeveralProcesses) {
  constexpr int groups = 3, workers = 2;
  TestFolder folder;
  std::string text;
  for (int i = 0; i < 47; ++i)
    text += fmt::format("1\t{}\t0\t0\t0\ta\tb\n", i + 1);
  const std::string file = folder.write("rows.tsv", text);
  const pdl_descriptor &descriptor = *handWrittenProgram({});
  const pdl_program &program = *findProgram(descriptor, "train");
  for (bool readAhead : {false, true})
    for (int64_t shuffleWindow : {0, 12}) {
      DataOptions options;
      options.files = {file};
      options.batchSize = 4;
      options.shuffleWindow = shuffleWindow;
      auto open = [&](const ReplicaLayout &layout) {
        auto reader =
            RoundReader::open(options, descriptor, program, layout, readAhead);
        EXPECT_TRUE(reader.ok());
        EXPECT_TRUE((*reader)->beginEpoch(1).ok());
        return std::move(*reader);
      };
      auto whole = open(ReplicaLayout::local(groups, workers));
      std::vector<std::unique_ptr<RoundReader>> parts;
      for (int g = 0; g < groups; ++g)
        parts.push_back(open({groups, workers, g, 1}));
      int rounds = 0;
      size_t rows = 0;
      while (true) {
        Expected<bool> more = whole->next();
        ASSERT_TRUE(more.ok());
        for (int g = 0; g < groups; ++g) {
          Expected<bool> partMore = parts[g]->next();
          ASSERT_TRUE(partMore.ok());
          EXPECT_TRUE(*more || !*partMore);
          EXPECT_EQ(parts[g]->positions()[0], whole->positions()[g]);
          for (int w = 0; w < workers; ++w) {
            const std::vector<float> expected =
                rowsOf(whole->inputs()[g * workers + w]);
            EXPECT_EQ(rowsOf(parts[g]->inputs()[w]), expected);
            rows += expected.size();
          }
        }
        if (!*more)
          break;
        ++rounds;
      }
      EXPECT_EQ(rows, 47u);
      EXPECT_EQ(rounds, 2);
    }
}
