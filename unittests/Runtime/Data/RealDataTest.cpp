//===- RealDataTest.cpp - Adult and Criteo, unmodified --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestRecord.h"

#include <algorithm>
#include <cstdlib>
#include <set>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

/// The expected figures were computed by a few lines of Python from the same
/// files.
class RealDataTest : public DataTest {
protected:
  /// Sums over a whole epoch of a source.
  struct Totals {
    int64_t samples = 0, batches = 0, ids = 0, emptyBags = 0;
    std::vector<double> dense;
    std::set<int64_t> keys;
  };
  /// Sums field `dense` by column and counts the ids of field `ids`; -1 for
  /// none.
  Totals readAll(BatchSource &source, int dense, int64_t width, int ids) {
    Totals totals;
    totals.dense.assign(static_cast<size_t>(width), 0);
    Batch batch;
    while (true) {
      auto more = source.next(0, batch);
      EXPECT_TRUE(more.ok()) << more.status().message();
      if (!more.ok() || !*more)
        return totals;
      totals.samples += batch.size();
      ++totals.batches;
      const auto numbers = values<float>(batch, static_cast<size_t>(dense));
      for (size_t i = 0; i < numbers.size(); ++i)
        totals.dense[i % static_cast<size_t>(width)] += numbers[i];
      if (ids < 0)
        continue;
      const auto keys = values<int64_t>(batch, static_cast<size_t>(ids));
      totals.ids += static_cast<int64_t>(keys.size());
      totals.keys.insert(keys.begin(), keys.end());
      if (batch.fields()[ids].splits) {
        const auto bags = splits(batch, static_cast<size_t>(ids), 26);
        for (size_t i = 1; i < bags.size(); ++i)
          totals.emptyBags += bags[i] == bags[i - 1];
      }
    }
  }
};

TEST_F(RealDataTest, Adult) {
  auto &numbers = record.dense("numbers", 6);
  record.setPositions(numbers, {0, 2, 4, 10, 11, 12});
  auto &categories = record.ids("categories", 8);
  record.setPositions(categories, {1, 3, 5, 6, 7, 8, 9, 13});
  categories.salt_kind = PDL_SALT_SLOT;
  categories.missing_kind = PDL_MISSING_TOKEN;
  categories.missing_token = "?";
  auto &label = record.dense("label");
  record.setPositions(label, {14});
  record.setValues(label, {"<=50K", ">50K"}, {0, 1});
  DataOptions options;
  options.files = {PDL_SOURCE_DIR "/data/adult/adult_train.csv.gz"};
  options.batchSize = 256;
  options.shuffleWindow = 10000;

  auto source = open(options);
  ASSERT_TRUE(source);
  Totals all = readAll(*source, 0, 6, 1);
  EXPECT_EQ(all.samples, 32561);
  EXPECT_EQ(all.batches, 128);
  EXPECT_EQ(all.dense, (std::vector<double>{1256257, 6179373392, 328237,
                                            35089324, 2842700, 1316684}));
  EXPECT_EQ(all.ids, 8 * 32561);
  EXPECT_EQ(all.keys.size(), 9u + 16 + 7 + 15 + 6 + 5 + 2 + 42);

  options.rows = *RowRange::parse("0%:80%");
  auto head = open(options);
  ASSERT_TRUE(head);
  Totals first = readAll(*head, 2, 1, -1);
  EXPECT_EQ(first.samples, 26048);
  EXPECT_EQ(first.dense[0], 6241);
  options.rows = *RowRange::parse("80%:100%");
  auto tail = open(options);
  ASSERT_TRUE(tail);
  Totals second = readAll(*tail, 2, 1, -1);
  EXPECT_EQ(second.samples, 32561 - 26048);
  EXPECT_EQ(second.dense[0], 7841 - 6241);
}

TEST_F(RealDataTest, CriteoHead) {
  const char *folder = std::getenv("PDL_TEST_DATA");
  if (!folder)
    GTEST_SKIP() << "PDL_TEST_DATA names no folder with criteo/";
  record.dense("label");
  auto &numbers = record.dense("numbers", 13);
  numbers.missing_kind = PDL_MISSING_VALUE;
  numbers.missing_value = 0;
  auto &categories = record.ragged("categories", 26);
  categories.salt_kind = PDL_SALT_SLOT;
  DataOptions options;
  options.files = {std::string(folder) + "/criteo/kaggle_head10k.tsv.gz"};
  options.batchSize = 512;
  auto source = open(options);
  ASSERT_TRUE(source);
  Totals labels = readAll(*source, 0, 1, 2);
  EXPECT_EQ(labels.samples, 10000);
  EXPECT_EQ(labels.dense[0], 2182);
  EXPECT_EQ(labels.ids, 230360);
  EXPECT_EQ(labels.emptyBags, 260000 - 230360);
  EXPECT_EQ(labels.keys.size(), 43579u);
  ASSERT_TRUE(source->beginEpoch(1).ok());
  Totals ints = readAll(*source, 1, 13, -1);
  double sum = 0;
  for (double column : ints.dense)
    sum += column;
  EXPECT_EQ(sum, 166592584);

  // The same model predicts from rows without labels.
  options.files = {std::string(folder) +
                   "/criteo/kaggle_head10k_unlabelled.tsv.gz"};
  options.columns = {"numbers", "categories"};
  auto unlabeled = open(options, &record.program({1, 2}));
  ASSERT_TRUE(unlabeled);
  Totals predicted = readAll(*unlabeled, 0, 13, 1);
  EXPECT_EQ(predicted.samples, 10000);
  EXPECT_EQ(predicted.ids, 230400);
  sum = 0;
  for (double column : predicted.dense)
    sum += column;
  EXPECT_EQ(sum, 165305455);
}

} // namespace
