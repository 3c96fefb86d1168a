//===- BagsTest.cpp - Bags of cells, and missing values -------------------===//
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
using testing::Not;

namespace {

using BagsTest = DelimitedFixture;

TEST_F(BagsTest, BagsOfNumbers) {
  auto &weights = record.raggedNumbers("w", 2);
  weights.separator = '|';
  auto &wide = record.raggedNumbers("v", 1, PDL_F64);
  wide.separator = ' ';
  wide.missing_kind = PDL_MISSING_VALUE;
  wide.missing_value = 0.5;
  DataOptions options;
  options.files = {put("a.tsv", "0.5| -2 |1e3\t4\t0.1 ? 0.2\n"
                                "\t?\t\n"
                                "\t-0\t1e300\n")};
  options.batchSize = 2;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(0.5f, -2, 1000, 4));
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 3, 4, 4, 4));
  EXPECT_THAT(values<double>(batch, 1), ElementsAre(0.1, 0.5, 0.2, 0.5));
  EXPECT_THAT(splits(batch, 1), ElementsAre(0, 3, 4));
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(0));
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 0, 1));
  EXPECT_THAT(values<double>(batch, 1), ElementsAre(1e300));
}

TEST_F(BagsTest, MissingNumbersOfBags) {
  auto &weights = record.raggedNumbers("w");
  weights.separator = '|';
  for (const char *bad : {"0.5||1", "|0.5", "||", "1|?"})
    EXPECT_THAT(errorOfText("1|2\n" + std::string(bad) + "\n"),
                HasSubstr("among others is missing"))
        << bad;
  weights.missing_kind = PDL_MISSING_VALUE;
  weights.missing_value = 7;
  Batch batch = readAll(put("a.csv", "|0.5\n0.5||1\n\n1\n"));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(7, 0.5f, 0.5f, 7, 1, 7, 1));
  EXPECT_THAT(splits(batch, 0), ElementsAre(0, 2, 5, 6, 7));
}

// A cell cannot distinguish an empty bag from one with one missing value.
TEST_F(BagsTest, ABagWithOneMissingValueIsMissing) {
  auto &ids = record.ragged("ids", 2);
  auto &weights = record.raggedNumbers("w");
  ids.separator = weights.separator = '|';
  const std::string path = put("a.tsv", "\t?\t\n|\t?|\t|\na\t?|?\t1|\n");
  Batch batch = readAll(path);
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 0, 0, 0, 0, 1, 1));
  EXPECT_THAT(splits(batch, 1), ElementsAre(0, 0, 0, 1));
  ids.missing_kind = PDL_MISSING_TOKEN;
  ids.missing_token = "none";
  weights.missing_kind = PDL_MISSING_VALUE;
  weights.missing_value = 7;
  batch = readAll(path);
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("none"), hashOf("none"), hashOf("none"),
                          hashOf("none"), hashOf("a"), hashOf("none")));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(7, 7, 1));
  // A replacement of missing elements does not replace a missing bag.
  ids.missing_element_kind = PDL_MISSING_TOKEN;
  ids.missing_element_token = "gap";
  weights.missing_element_kind = PDL_MISSING_VALUE;
  weights.missing_element_value = -1;
  batch = readAll(path);
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("none"), hashOf("none"), hashOf("gap"),
                          hashOf("gap"), hashOf("gap"), hashOf("gap"),
                          hashOf("a"), hashOf("gap"), hashOf("gap")));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(7, -1, -1, 1, -1));
  ids.missing_kind = weights.missing_kind = PDL_MISSING_EMPTY;
  batch = readAll(path);
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 0, 0, 2, 4, 5, 7));
  EXPECT_THAT(splits(batch, 1), ElementsAre(0, 0, 2, 4));
}

// A trailing separator ends a value, whatever the bag contains.
TEST_F(BagsTest, ASeparatorAtTheEndEndsAValue) {
  auto &ids = record.ragged("ids");
  ids.separator = '^';
  auto &weights = record.raggedNumbers("w");
  weights.separator = '^';
  for (const int32_t kind : {PDL_MISSING_EMPTY, PDL_MISSING_VALUE}) {
    weights.missing_kind = kind;
    Batch batch = readAll(put("a.tsv", "a^b^\t1^2^\n"));
    EXPECT_THAT(values<int64_t>(batch, 0),
                ElementsAre(hashOf("a"), hashOf("b")));
    EXPECT_THAT(values<float>(batch, 1), ElementsAre(1, 2));
  }
  // Unless the field defines a missing element.
  ids.missing_element_kind = PDL_MISSING_TOKEN;
  ids.missing_element_token = "none";
  weights.missing_element_kind = PDL_MISSING_VALUE;
  weights.missing_element_value = 9;
  Batch batch = readAll(put("b.tsv", "a^b^\t1^2^\n"));
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("a"), hashOf("b"), hashOf("none")));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(1, 2, 9));
}

TEST_F(BagsTest, MissingElementsKeepTheirPositions) {
  auto &ids = record.ragged("ids");
  ids.separator = '^';
  ids.missing_element_kind = PDL_MISSING_TOKEN;
  ids.missing_element_token = "none";
  auto &weights = record.raggedNumbers("w");
  weights.separator = '^';
  weights.missing_element_kind = PDL_MISSING_VALUE;
  weights.missing_element_value = -1;
  Batch batch = readAll(put("a.tsv", "a^^c\t1^?^3\n?\t\n^\t^\n"));
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("a"), hashOf("none"), hashOf("c"),
                          hashOf("none"), hashOf("none")));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(1, -1, 3, -1, -1));
  EXPECT_THAT(splits(batch, 0), ElementsAre(0, 3, 3, 5));
  EXPECT_EQ(splits(batch, 0), splits(batch, 1));
}

// One bad row must not end a job that may skip bad rows.
TEST_F(BagsTest, JoinedBagsOfUnequalLengthAreABadRow) {
  record.dense("y");
  record.ragged("c", 2).separator = '|';
  record.raggedNumbers("d", 2).separator = '|';
  pdl_program program = record.program();
  const int32_t joined[] = {2, 1};
  program.joined_count = 1;
  program.joined = joined;
  DataOptions options;
  options.files = {put("a.tsv", "1\ta|b\tc\t1|2\t3\n2\ta\tb|c\t1\t2\n"
                                "3\t\ta\t\t5\n")};
  EXPECT_THAT(errorOf(options, &program),
              HasSubstr("a.tsv:2:5: field `d` and field `c` belong together "
                        "(nn.same_bags), but have 1 and 2 values in this row"));
  options.maxBadRows = 1;
  for (const char *cache : {"", "cache", "cache"}) {
    options.cache = *cache ? folder / cache : "";
    options.batchSize = 10;
    auto source = open(options, &program);
    Batch batch;
    ASSERT_TRUE(*source->next(0, batch));
    EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 3));
    EXPECT_EQ(splits(batch, 1, 2), splits(batch, 2, 2));
    EXPECT_EQ(source->badRowCount(), 1);
    EXPECT_FALSE(*source->next(0, batch));
  }
  // A program that does not join them reads all rows.
  EXPECT_EQ(readAll(options).size(), 3);
}

// An id without a value in the program makes a bad row, too.
TEST_F(BagsTest, IdsOutOfTheirRangeAreABadRow) {
  record.dense("y");
  record.ids("i", 3).hash_kind = PDL_HASH_NONE;
  record.ids("j").hash_kind = PDL_HASH_NONE;
  pdl_program program = record.program();
  // The allowed ids among 34 ids from -2 are those whose bits are set.
  const int32_t allowed[] = {int32_t(0xFFFFFFFD), 2};
  const pdl_id_range ranges[] = {{1, 1, 2, 10, 20, nullptr},
                                 {2, 0, 1, -2, 32, allowed}};
  program.id_range_count = 2;
  program.id_ranges = ranges;
  DataOptions options;
  const auto errorIn = [&](const std::string &row) {
    options.files = {put("a.csv", "1,0,10,19,0\n" + row + "\n")};
    return errorOf(options, &program);
  };
  EXPECT_THAT(errorIn("1,0,10,20,0"),
              HasSubstr("a.csv:2:4: field `i` has the id 20 in its column 2, "
                        "which nn.sample never draws: nn.log_probability takes "
                        "ids from 10 below 20; widen the range"));
  EXPECT_THAT(errorIn("1,0,9,10,0"), HasSubstr("a.csv:2:3: field `i` has the "
                                               "id 9 in its column 1"));
  EXPECT_THAT(errorIn("1,0,10,10,-1"),
              HasSubstr("a.csv:2:5: field `j` has the id -1 in its column 0, "
                        "which nn.sample never draws: nn.log_probability takes "
                        "ids from -2 below 32 whose count is not 0"));
  for (const char *id : {"-3", "30", "32"})
    EXPECT_THAT(errorIn(std::string("1,0,10,10,") + id),
                HasSubstr("field `j` has the id " + std::string(id)));
  options.files = {put("a.csv", "1,99,10,19,31\n2,0,20,10,0\n3,0,10,10,-2\n"
                                "4,0,10,10,-1\n5,0,10,10,29\n")};
  options.maxBadRows = 2;
  for (const char *cache : {"", "cache", "cache"}) {
    options.cache = *cache ? folder / cache : "";
    options.batchSize = 10;
    auto source = open(options, &program);
    Batch batch;
    ASSERT_TRUE(*source->next(0, batch));
    EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 3, 5));
    EXPECT_EQ(source->badRowCount(), 2);
  }
  // A program without ranges reads all rows from the same file.
  EXPECT_EQ(readAll(options).size(), 5);
}

// Omitted ids would shift the others to other numbers.
TEST_F(BagsTest, JoinedBagsMissTheSamePositions) {
  record.ragged("c").separator = '^';
  record.ragged("d").separator = '^';
  record.raggedNumbers("w").separator = '^';
  pdl_program program = record.program();
  const int32_t joined[] = {1, 0, 2, 0};
  program.joined_count = 1;
  program.joined = joined;
  DataOptions options;
  options.files = {put("same.tsv", "a^^c\tx^^z\t\n^^\t\t\n")};
  EXPECT_THAT(splits(readAll(options, &program), 1), ElementsAre(0, 2, 2));
  options.files = {put("other.tsv", "a^^c\tx^y^\t\n")};
  EXPECT_THAT(
      errorOf(options, &program),
      HasSubstr("other.tsv:1:2: field `d` and field `c` belong together "
                "(nn.same_bags), but miss values at different"));
  program.joined_count = 2;
  options.files = {put("numbers.tsv", "a^^c\tx^^z\t1^2^\n")};
  EXPECT_THAT(errorOf(options, &program), HasSubstr("numbers.tsv:1:3"));
}

// The record defines which texts mean a missing value.
TEST_F(BagsTest, MissingTextsOfTheRecord) {
  static const char *const texts[] = {"\\N", "NULL", "-999", "nan"};
  static const char *const none[] = {""};
  const auto setTexts = [](pdl_field &field, int64_t count,
                           const char *const *list) {
    field.missing_text_count = count;
    field.missing_texts = list;
  };
  auto &number = record.dense("x");
  number.missing_kind = PDL_MISSING_VALUE;
  number.missing_value = 0.5;
  auto &id = record.ids("id", 2);
  id.missing_kind = PDL_MISSING_TOKEN;
  id.missing_token = "none";
  auto &bag = record.ragged("bag");
  bag.separator = '|';
  for (pdl_field *field : {&number, &id, &bag})
    setTexts(*field, 4, texts);
  Batch batch = readAll(put("a.csv", "-999,NULL,\\N,a|NULL|b\n"
                                     "nan,,?,NULL\n"
                                     "-99,null,NULL ,nan|nan\n"));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(0.5f, 0.5f, -99));
  EXPECT_THAT(values<int64_t>(batch, 1),
              ElementsAre(hashOf("none"), hashOf("none"), hashOf("none"),
                          hashOf("?"), hashOf("null"), hashOf("none")));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(hashOf("a"), hashOf("b")));
  EXPECT_THAT(splits(batch, 2), ElementsAre(0, 2, 2, 2));
  for (pdl_field *field : {&number, &id, &bag})
    setTexts(*field, 1, none);
  batch = readAll(put("b.csv", ",?,,?|?\n"));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(0.5f));
  EXPECT_THAT(values<int64_t>(batch, 1),
              ElementsAre(hashOf("?"), hashOf("none")));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(hashOf("?"), hashOf("?")));
  EXPECT_THAT(errorOfText("?,a,b,\n"), HasSubstr("is not a finite number"));
}

TEST_F(BagsTest, ShuffledBagsOfNumbersStayWhole) {
  auto &weights = record.raggedNumbers("w");
  weights.separator = '|';
  auto &wide = record.raggedNumbers("v", 1, PDL_F64);
  wide.separator = '|';
  std::string text;
  for (int row = 0; row < 20; ++row) {
    std::string bag;
    for (int i = 0; i < row % 4; ++i)
      bag += (i ? "|" : "") + std::to_string(row) + ".25";
    text += bag + "\t" + bag + "\n";
  }
  DataOptions options;
  options.files = {put("a.tsv", text)};
  options.batchSize = 20;
  options.shuffleWindow = 20;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  const std::vector<float> numbers = values<float>(batch, 0);
  const std::vector<double> others = values<double>(batch, 1);
  const std::vector<int32_t> offsets = splits(batch, 0);
  EXPECT_EQ(splits(batch, 1), offsets);
  for (int64_t sample = 0; sample < 20; ++sample) {
    const int64_t row = batch.row(sample);
    const auto begin = offsets[size_t(sample)];
    ASSERT_EQ(offsets[size_t(sample) + 1] - begin, row % 4);
    for (int32_t i = begin; i < begin + row % 4; ++i) {
      EXPECT_EQ(numbers[size_t(i)], float(row) + 0.25f);
      EXPECT_EQ(others[size_t(i)], double(row) + 0.25);
    }
  }
}

TEST_F(BagsTest, BadNumbersOfBagsAreNamedAndLeaveNoTrace) {
  auto &weights = record.raggedNumbers("w");
  weights.separator = '|';
  for (const char *bad : {"nan", "inf", "1e99", "x", "1 2"})
    EXPECT_THAT(errorOfText("1|2\n3|" + std::string(bad) + "|4\n"),
                HasSubstr("bad.csv:2:1: field `w`: `" + std::string(bad) +
                          "` is not a finite number"));
  EXPECT_THAT(errorOfText("1|2\n3|?|4\n"),
              HasSubstr("bad.csv:2:1: field `w`: a number among others is "
                        "missing"));
  DataOptions options;
  options.files = {put("some.csv", "1|2\n3|nan|4\n5\n")};
  options.maxBadRows = 1;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 2, 5));
  EXPECT_THAT(splits(batch, 0), ElementsAre(0, 2, 3));
  EXPECT_EQ(source->badRowCount(), 1);
}

TEST_F(BagsTest, MissingValuesHaveTheirStandIns) {
  auto &number = record.dense("x");
  number.missing_kind = PDL_MISSING_VALUE;
  number.missing_value = -1.5;
  auto &id = record.ids("id", 2);
  id.missing_kind = PDL_MISSING_TOKEN;
  id.missing_token = "none";
  id.salt_kind = PDL_SALT_SLOT;
  auto &bag = record.ragged("bag");
  bag.missing_kind = PDL_MISSING_TOKEN;
  bag.missing_token = "42";
  bag.hash_kind = PDL_HASH_NONE;
  Batch batch = readAll(put("a.csv", "?,,?,\n , a , ,7\n"));
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(-1.5f, -1.5f));
  EXPECT_THAT(values<int64_t>(batch, 1),
              ElementsAre(hashOf("none", 0), hashOf("none", 1), hashOf("a", 0),
                          hashOf("none", 1)));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(42, 7));
  EXPECT_THAT(splits(batch, 2), ElementsAre(0, 1, 2));
}

TEST_F(BagsTest, ATokenThatIsNoIntegerIsRefused) {
  auto &bag = record.ragged("bag");
  bag.missing_kind = PDL_MISSING_TOKEN;
  bag.missing_token = "none";
  bag.hash_kind = PDL_HASH_NONE;
  EXPECT_THAT(errorOfText("1\n"), HasSubstr("its token for missing ones"));
}

} // namespace
