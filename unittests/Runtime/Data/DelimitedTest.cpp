//===- DelimitedTest.cpp - Cells of CSV and TSV files ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FieldTexts.h"
#include "TestRecord.h"

#include "xxhash.h"
#include "gmock/gmock.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

namespace {

int64_t hashOf(std::string_view text, uint64_t seed = 0) {
  return static_cast<int64_t>(XXH64(text.data(), text.size(), seed));
}

class DelimitedTest : public DataTest {
protected:
  /// The only batch of a file.
  Batch readAll(DataOptions options, const pdl_program *program = nullptr) {
    options.batchSize = 1000;
    auto source = open(options, program);
    Batch batch;
    if (!source)
      return batch;
    auto more = source->next(0, batch);
    EXPECT_TRUE(more.ok()) << more.status().message();
    return batch;
  }
  Batch readAll(const std::string &path) {
    DataOptions options;
    options.files = {path};
    return readAll(options);
  }
  std::string errorOfText(const std::string &text,
                          const char *name = "bad.csv") {
    DataOptions options;
    options.files = {put(name, text)};
    return errorOf(options);
  }
};

TEST_F(DelimitedTest, TrimsHashesAndMapsInDeclarationOrder) {
  record.dense("age");
  auto &work = record.ids("work", 2);
  work.salt = 9;
  auto &label = record.dense("label");
  record.setValues(label, {"<=50K", ">50K"}, {0, 1});
  Batch batch = readAll(put("a.csv", "39, State-gov ,x, <=50K\r\n"
                                     " 50.5 ,\tb,?x, >50K\n"));
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(39.f, 50.5f));
  EXPECT_THAT(values<int64_t>(batch, 1),
              ElementsAre(hashOf("State-gov", 9), hashOf("x", 9),
                          hashOf("b", 9), hashOf("?x", 9)));
  EXPECT_THAT(values<float>(batch, 2), ElementsAre(0.f, 1.f));
  EXPECT_EQ(batch.fields()[0].splits, nullptr);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(batch.fields()[i].values) %
                  PDL_BUFFER_ALIGNMENT,
              0u);
}

TEST_F(DelimitedTest, SlotSaltAndRaggedBags) {
  auto &slots = record.ragged("cat", 2);
  slots.salt_kind = PDL_SALT_SLOT;
  slots.separator = '|';
  Batch batch = readAll(put("a.tsv.gz", "a| b |?||a\tx\n"
                                        "\t?\n"
                                        "\ty z\n"));
  ASSERT_EQ(batch.size(), 3);
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("a", 0), hashOf("b", 0), hashOf("a", 0),
                          hashOf("x", 1), hashOf("y z", 1)));
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 3, 4, 4, 4, 4, 5));
}

TEST_F(DelimitedTest, BagsOfNumbers) {
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

TEST_F(DelimitedTest, MissingNumbersOfBagsAreMissingAtTheirEndsToo) {
  auto &weights = record.raggedNumbers("w");
  weights.separator = '|';
  EXPECT_THAT(errorOfText("1|2\n0.5|\n"), HasSubstr("among others is missing"));
  EXPECT_THAT(errorOfText("1|2\n|0.5\n"), HasSubstr("among others is missing"));
  EXPECT_THAT(errorOfText("1|2\n|\n"), HasSubstr("among others is missing"));
  weights.missing_kind = PDL_MISSING_VALUE;
  weights.missing_value = 7;
  Batch batch = readAll(put("a.csv", "0.5|\n|0.5\n|\n0.5||\n1\n"));
  EXPECT_THAT(values<float>(batch, 0),
              ElementsAre(0.5f, 7, 7, 0.5f, 7, 7, 0.5f, 7, 7, 1));
  EXPECT_THAT(splits(batch, 0), ElementsAre(0, 2, 4, 6, 9, 10));
}

TEST_F(DelimitedTest, ShuffledBagsOfNumbersStayWhole) {
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

TEST_F(DelimitedTest, BadNumbersOfBagsAreNamedAndLeaveNoTrace) {
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

TEST_F(DelimitedTest, KnownHashOfAText) {
  // xxh64("abc", seed 0), from the algorithm's published test values.
  record.ids("a");
  Batch batch = readAll(put("a.csv", " abc \n"));
  EXPECT_EQ(static_cast<uint64_t>(values<int64_t>(batch, 0)[0]),
            0x44BC2CF5AD770999u);
}

TEST_F(DelimitedTest, QuotedCells) {
  record.ids("a", 3);
  Batch batch = readAll(put("a.csv", "\"x,y\" , \"say \"\"hi\"\"\",\"two\n"
                                     "lines\"\n"
                                     "5\" disk,\"\"\"\",\" \"\"q\"\" \"\n"));
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("x,y"), hashOf("say \"hi\""),
                          hashOf("two\nlines"), hashOf("5\" disk"),
                          hashOf("\""), hashOf("\"q\"")));
}

TEST_F(DelimitedTest, QuotesAreTextWhereTabsEndCells) {
  record.ids("a", 2);
  Batch batch = readAll(put("a.tsv", "\"x\ty\"\n"));
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("\"x"), hashOf("y\"")));
}

TEST_F(DelimitedTest, IntegerIdsFillAllOf64Bits) {
  auto &ids = record.ids("id");
  ids.hash_kind = PDL_HASH_NONE;
  Batch batch = readAll(put("a.csv", "0\n-1\n18446744073709551615\n"
                                     "-9223372036854775808\n"
                                     "9223372036854775808\n+7\n007\n"));
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(0, -1, -1, INT64_MIN, INT64_MIN, 7, 7));
  for (const char *bad : {"18446744073709551616", "-9223372036854775809", "1.0",
                          "0x10", "+-1", "--1", "1 2", "+", "-"})
    EXPECT_THAT(errorOfText(std::string(bad) + "\n"),
                HasSubstr("is not a decimal integer of 64 bits"))
        << bad;
}

TEST_F(DelimitedTest, ListWithoutSeparatorIsSaidToNeedOne) {
  auto &bag = record.ragged("bag");
  bag.hash_kind = PDL_HASH_NONE;
  bag.separator = 0;
  EXPECT_THAT(errorOfText("36 48 4\n"), HasSubstr("separator(\" \")"));
  EXPECT_THAT(errorOfText("x\n"), HasSubstr("hash(#nn.hash<xxh64"));
}

TEST_F(DelimitedTest, NumbersAreCorrectlyRounded) {
  record.dense("f32");
  auto &wide = record.dense("f64");
  wide.element_type = PDL_F64;
  std::vector<std::string> texts{"-0",
                                 "+5",
                                 ".5",
                                 "5.",
                                 "1e3",
                                 "-2.5E-3",
                                 "1e-60",
                                 "1e-400",
                                 "16777217",
                                 "33554435",
                                 "9007199254740993",
                                 "1e38",
                                 "0.1",
                                 "123456789012345678",
                                 "1234567890123456789012",
                                 "3.4e+38",
                                 "1.17549e-38"};
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const double value =
        std::ldexp(static_cast<double>(random() >> 11) - 4.5e15,
                   static_cast<int>(random() % 160) - 120);
    char text[64];
    std::snprintf(text, sizeof(text), i % 2 ? "%.17g" : "%.6f", value);
    if (std::abs(value) < 3e38)
      texts.push_back(text);
  }
  std::string file;
  for (const std::string &text : texts)
    file += text + "," + text + "\n";
  DataOptions options;
  options.files = {put("a.csv", file)};
  options.batchSize = 100000;
  auto source = open(options);
  Batch batch;
  auto more = source->next(0, batch);
  ASSERT_TRUE(more.ok()) << more.status().message();
  ASSERT_EQ(batch.size(), static_cast<int64_t>(texts.size()));
  auto f32 = values<float>(batch, 0);
  auto f64 = values<double>(batch, 1);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(f32[i], std::strtof(texts[i].c_str(), nullptr)) << texts[i];
    EXPECT_EQ(f64[i], std::strtod(texts[i].c_str(), nullptr)) << texts[i];
  }
  EXPECT_TRUE(std::signbit(f32[0]));
  EXPECT_TRUE(std::signbit(f64[0]));
}

// Short whole numbers have a way of their own, wherever in a row they stand.
TEST_F(DelimitedTest, NumbersOfAnyLengthAndPlace) {
  auto &numbers = record.dense("x", 4);
  numbers.missing_kind = PDL_MISSING_VALUE;
  numbers.missing_value = -7.5;
  std::mt19937_64 random(5);
  const char *others[] = {"",    "?",   " 12 ",     "+5",   "-3",
                          "1e2", "0.5", "00000012", "-0.0", "\"31\""};
  std::string file;
  std::vector<std::string> texts;
  for (int row = 0; row < 1000; ++row)
    for (int slot = 0; slot < 4; ++slot) {
      std::string text;
      if (random() % 4 == 0)
        text = others[random() % std::size(others)];
      else
        for (uint64_t digits = 1 + random() % 10; digits > 0; --digits)
          text += char('0' + random() % 10);
      file += text + (slot < 3 ? "," : "\n");
      texts.push_back(text == "\"31\"" ? "31" : text);
    }
  Batch batch;
  DataOptions options;
  options.files = {put("a.csv", file)};
  options.batchSize = 3000;
  auto source = open(options);
  auto more = source->next(0, batch);
  ASSERT_TRUE(more.ok()) << more.status().message();
  const std::vector<float> found = values<float>(batch, 0);
  size_t i = 0;
  for (size_t row = 0; row < texts.size(); row += 4)
    for (size_t slot = 0; slot < 4; ++slot) {
      const std::string &text = texts[row + slot];
      const float expected = text.empty() || text == "?"
                                 ? -7.5f
                                 : std::strtof(text.c_str(), nullptr);
      ASSERT_EQ(found[i++], expected) << text << " in row " << row / 4;
    }
}

TEST_F(DelimitedTest, WhatIsNoNumberIsNamed) {
  record.dense("age");
  for (const char *bad : {"abc", "1 5", "nan", "inf", "-inf", "1e99", "1.5x",
                          "--1", "+-1", "0x10", "1e", ".", "1e5000", "-"})
    EXPECT_THAT(errorOfText(std::string("1\n2\n") + bad + "\n"),
                HasSubstr(":3:1: field `age`: `" + std::string(bad) +
                          "` is not a finite number"));
  EXPECT_EQ(errorOfText("1\n2\nabc\n"),
            std::string(folder / "bad.csv") +
                ":3:1: field `age`: `abc` is not a finite number; mend the "
                "row, or skip bad rows with --max-bad-rows N");
  EXPECT_THAT(errorOfText("1\n\n\n?\n"),
              HasSubstr("bad.csv:4:1: field `age`: the value is missing"));
  EXPECT_THAT(errorOfText(std::string(500, 'x') + "\n"),
              HasSubstr("`" + std::string(40, 'x') + "...`"));
  EXPECT_THAT(errorOfText("a\x01\x7f\n"), HasSubstr("`a\\x01\\x7f`"));
}

TEST_F(DelimitedTest, LabelsOutsideTheirMapAreNamed) {
  auto &label = record.dense("label");
  record.setValues(label, {"no", "yes"}, {0, 1});
  EXPECT_THAT(errorOfText("yes\nmaybe\n"),
              HasSubstr("bad.csv:2:1: field `label`: `maybe` is none of the "
                        "texts that the field declares (`no`, `yes`)"));
}

TEST_F(DelimitedTest, MissingValuesHaveTheirStandIns) {
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

TEST_F(DelimitedTest, ATokenThatIsNoIntegerIsRefused) {
  auto &bag = record.ragged("bag");
  bag.missing_kind = PDL_MISSING_TOKEN;
  bag.missing_token = "none";
  bag.hash_kind = PDL_HASH_NONE;
  EXPECT_THAT(errorOfText("1\n"), HasSubstr("its token for missing ones"));
}

TEST_F(DelimitedTest, ColumnsByHeaderAndByPosition) {
  auto &age = record.dense("age");
  record.setNames(age, {"Age"});
  auto &hours = record.dense("rest", 2);
  record.setPositions(hours, {3, 0});
  record.dense("after");
  DataOptions options;
  options.header = true;
  options.files = {put("a.csv", "\xef\xbb\xbfz, after,\"Age\",h\n1,2,3,4\n")};
  Batch batch = readAll(options);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(3.f));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(4.f, 1.f));
  // The field without columns of its own follows the last one, position 0.
  EXPECT_THAT(values<float>(batch, 2), ElementsAre(2.f));

  options.files = {put("b.csv", "z,after,age,h\n1,2,3,4\n")};
  EXPECT_THAT(errorOf(options),
              HasSubstr("b.csv:1: the header has no column `Age`, which field "
                        "`age` reads"));
  options.files = {put("b.csv", "Age,after,Age,h\n1,2,3,4\n")};
  EXPECT_THAT(errorOf(options), HasSubstr("names two columns `Age`"));
  options.header = false;
  EXPECT_THAT(errorOf(options), HasSubstr("pass --header"));
}

// Among rows that are passed over nobody reads it, and hashed it is an id.
TEST_F(DelimitedTest, AHeaderThatCountsAsARowIsWarnedOf) {
  record.dense("label");
  record.ids("user");
  DataOptions options;
  options.rows = *RowRange::parse("1:3");
  options.files = {put("named.csv", "label,user\n1,7\n0,8\n")};
  testing::internal::CaptureStderr();
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(1, 0));
  options.files = {put("plain.csv", "0,6\n1,7\n0,8\n")};
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(1, 0));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("named.csv:1:1: the first line has `label`, the "
                              "name of a field; if it names the columns, give "
                              "--header: without, it is the first row"));
  EXPECT_THAT(said, testing::Not(HasSubstr("plain.csv")));
}

TEST_F(DelimitedTest, AFieldThatIsNotReadNeedsNoColumn) {
  auto &label = record.dense("label");
  record.setNames(label, {"y"});
  auto &x = record.dense("x");
  record.setNames(x, {"x"});
  DataOptions options;
  options.header = true;
  options.files = {put("a.csv", "x\n3\n")};
  const pdl_program &predict = record.program({1});
  EXPECT_THAT(values<float>(readAll(options, &predict), 0), ElementsAre(3.f));
  EXPECT_THAT(errorOf(options), HasSubstr("no column `y`"));
}

// How many cells a row has never decides which column is which field.
TEST_F(DelimitedTest, FilesWithoutAHeaderHoldWholeRecords) {
  record.dense("label");
  record.dense("weight");
  record.dense("x", 2);
  DataOptions options;
  const pdl_program &predict = record.program({2});
  options.files = {put("whole.csv", "1,9,2,3\n")};
  EXPECT_THAT(values<float>(readAll(options, &predict), 0),
              ElementsAre(2.f, 3.f));
  for (const char *text : {"2,3\n", "9,2,3\n", "7,1,9,2,3\n"}) {
    options.files = {put("other.csv", text)};
    EXPECT_THAT(errorOf(options, &predict),
                testing::AllOf(HasSubstr("other.csv:1:"),
                               HasSubstr("but the record has 4 columns"),
                               HasSubstr("--columns")))
        << text;
  }
  options.files = {put("weighted.csv", "9,2,3\n")};
  options.columns = {"weight", "x"};
  EXPECT_THAT(values<float>(readAll(options, &predict), 0),
              ElementsAre(2.f, 3.f));
  EXPECT_THAT(errorOf(options),
              HasSubstr("--columns does not name field `label`"));
  options.files = {put("more.csv", "id,2,3,4\n")};
  options.columns = {"_", "x", "_"};
  EXPECT_THAT(values<float>(readAll(options, &predict), 0),
              ElementsAre(2.f, 3.f));
  options.columns = {"_", "x"};
  EXPECT_THAT(errorOf(options, &predict),
              HasSubstr("has 4 cells, but --columns has 3 columns"));
  options.columns = {"_", "x", "x"};
  EXPECT_THAT(errorOf(options, &predict), HasSubstr("`x` twice"));
  options.columns = {"_", "z"};
  EXPECT_THAT(errorOf(options, &predict),
              HasSubstr("`z`, but the record has no such field, only label, "
                        "weight, x"));
}

TEST_F(DelimitedTest, AHeaderTellsTheColumnsOfFields) {
  record.dense("label");
  record.dense("x", 2);
  record.dense("z");
  DataOptions options;
  options.header = true;
  const pdl_program &predict = record.program({1, 2});
  // In any order, among others, with or without what is not read.
  options.files = {put("named.csv", "z,id,x.1,x.0\n1,2,3,4\n")};
  Batch batch = readAll(options, &predict);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(4.f, 3.f));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(1.f));
  EXPECT_THAT(errorOf(options), HasSubstr("name all fields there"));
  // Other names: the whole record, in its order.
  options.files = {put("foreign.csv", "y,a,b,z\n1,2,3,4\n")};
  batch = readAll(options, &predict);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(2.f, 3.f));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(4.f));
  options.files = {put("cut.csv", "a,b,c\n2,3,4\n")};
  EXPECT_THAT(errorOf(options, &predict),
              HasSubstr("but the record has 4 columns"));
  options.files = {put("moved.csv", "z,y,a,b\n1,2,3,4\n")};
  EXPECT_THAT(errorOf(options, &predict),
              HasSubstr("the header names column 1 `z`, which by the order of "
                        "the record is column 4"));
  options.columns = {"z", "_", "x"};
  EXPECT_THAT(values<float>(readAll(options, &predict), 0),
              ElementsAre(3.f, 4.f));
}

// A program of the whole record reads what it did; the sentence says what may
// be meant.
TEST_F(DelimitedTest, AHeaderThatIsReadAsDataIsSuspected) {
  record.dense("label");
  record.ids("id");
  EXPECT_THAT(errorOfText("label,id\n1,a\n"),
              testing::AllOf(HasSubstr("bad.csv:1:1: field `label`"),
                             HasSubstr("if this line names the columns, give "
                                       "--header")));
  EXPECT_THAT(errorOfText("1,a\nlabel,id\n"),
              testing::Not(HasSubstr("--header")));
}

// The field of text ids that was to be hashed is named, and what it lacks.
TEST_F(DelimitedTest, TextIdsAskForAHash) {
  record.dense("label");
  record.ids("id").hash_kind = PDL_HASH_NONE;
  EXPECT_THAT(errorOfText("1,7\n1,u7\n"),
              testing::AllOf(HasSubstr("bad.csv:2:2: field `id`: `u7` is not a "
                                       "decimal integer of 64 bits"),
                             HasSubstr("give the field `hash(...)`")));
}

// A first row is no worse than another one.
TEST_F(DelimitedTest, ABadFirstRowCountsAmongBadRows) {
  record.dense("x", 2);
  for (const char *first : {"\"1,2\n", "1\n", "1,2,3\n", "1,b\n"}) {
    DataOptions options;
    options.files = {put("a.csv", std::string(first) + "5,6\n7,8\n")};
    EXPECT_THAT(errorOf(options), HasSubstr("a.csv:1:")) << first;
    options.maxBadRows = 1;
    EXPECT_THAT(values<float>(readAll(options), 0),
                ElementsAre(5.f, 6.f, 7.f, 8.f))
        << first;
  }
  // Not even where the first row alone could tell the number of cells.
  record = {};
  auto &x = record.dense("x");
  record.setPositions(x, {1});
  DataOptions options;
  options.maxBadRows = 1;
  options.files = {put("b.csv", "1\n2,3,4\n5,6,7\n")};
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(3.f, 6.f));
}

// Each sample knows its row, and what is let through.
TEST_F(DelimitedTest, RowsAndCopiedCells) {
  record.dense("x");
  DataOptions options;
  options.header = true;
  options.copyColumn = "id";
  options.maxBadRows = 9;
  options.batchSize = 2;
  options.files = {put("a.csv", "id,x\nu1,bad\nu2,2\nu3,3\nu4\nu5,bad\n"
                                "\"u 6\",6\n,7\nu8,bad\n")};
  auto source = open(options);
  std::vector<std::string> cells;
  std::vector<int64_t> rows;
  Batch batch;
  while (*source->next(0, batch))
    for (int64_t i = 0; i < batch.size(); ++i) {
      rows.push_back(batch.row(i));
      cells.emplace_back(batch.copiedCell(i));
    }
  EXPECT_THAT(rows, ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(cells, ElementsAre("u2", "u3", "u 6", ""));
  EXPECT_EQ(source->settledRows(), 8);
  EXPECT_THAT(
      source->takeCopiedCellsOfBadRows(),
      ElementsAre(Pair(0, "u1"), Pair(3, "u4"), Pair(4, "u5"), Pair(7, "u8")));
  options.copyColumn = "2";
  source = open(options);
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_EQ(batch.copiedCell(0), "2");
  for (const char *wrong : {"who", "0", "3", "-1", "0x1"}) {
    options.copyColumn = wrong;
    EXPECT_THAT(errorOf(options), HasSubstr("--copy-column")) << wrong;
  }
}

// The texts of all ids that the program reads, and of no other field.
TEST_F(DelimitedTest, TextsOfIdsAreLetThrough) {
  record.dense("x");
  pdl_field &bag = record.ragged("bag", 2);
  bag.separator = '|';
  pdl_field &id = record.ids("id");
  DataOptions options;
  options.copyTexts = true;
  options.maxBadRows = 1;
  options.files = {
      put("a.csv", "1,a| b||?,,\" q,\"\"w \"\nbad,x,y,z\n2,?, c ,0\n")};
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  ASSERT_EQ(batch.size(), 2);
  const auto textsOf = [&](int64_t sample) {
    std::string_view rest = batch.copiedCell(sample);
    std::vector<std::vector<std::string_view>> slots;
    for (const pdl_field *field : {&bag, &bag, &id}) {
      slots.emplace_back();
      splitFieldText(*field, takeFieldText(rest), slots.back());
    }
    EXPECT_TRUE(rest.empty());
    return slots;
  };
  EXPECT_THAT(textsOf(0), ElementsAre(ElementsAre("a", "b", "", "?"), IsEmpty(),
                                      ElementsAre("q,\"w")));
  EXPECT_THAT(textsOf(1), ElementsAre(ElementsAre("?"), ElementsAre("c"),
                                      ElementsAre("0")));
  EXPECT_THAT(source->takeCopiedCellsOfBadRows(), IsEmpty());
}

// An id is let through as it is written, whether the program reads it or not,
// from wherever its field stands.
TEST_F(DelimitedTest, AnIdIsLetThrough) {
  record.dense("x");
  pdl_field &row = record.ids("row");
  row.missing_kind = PDL_MISSING_TOKEN;
  row.missing_token = "none";
  const auto idsLetThrough = [&](DataOptions options,
                                 std::vector<int32_t> read) {
    options.idField = "row";
    options.maxBadRows = 1;
    auto source = open(options, &record.program(std::move(read)));
    Batch batch;
    std::vector<std::string> ids;
    while (*source->next(0, batch))
      for (int64_t i = 0; i < batch.size(); ++i)
        ids.emplace_back(batch.copiedCell(i));
    EXPECT_THAT(source->takeCopiedCellsOfBadRows(),
                ElementsAre(Pair(1, "0x1")));
    return ids;
  };
  for (const std::vector<int32_t> &read :
       {std::vector<int32_t>{0}, std::vector<int32_t>{0, 1}}) {
    DataOptions options;
    options.files = {put("a.csv", "1,\"a, b\"\nbad,0x1\n2, 007 \n3,\n")};
    EXPECT_THAT(idsLetThrough(options, read), ElementsAre("a, b", "007", ""));
    options.files = {put("h.csv", "row,y,x\nu1,0,1\n0x1,0,bad\nu2,0,2\n")};
    options.header = true;
    EXPECT_THAT(idsLetThrough(options, read), ElementsAre("u1", "u2"));
    options.header = false;
    options.files = {put("c.csv", "u1,0,1\n0x1,0,bad\nu2,0,2\n")};
    options.columns = {"row", "_", "x"};
    EXPECT_THAT(idsLetThrough(options, read), ElementsAre("u1", "u2"));
  }
  DataOptions options;
  options.idField = "row";
  options.files = {put("d.csv", "1,2\n")};
  options.columns = {"x", "_"};
  const pdl_program &program = record.program({0});
  EXPECT_THAT(
      BatchSource::open(options, record.descriptor(), program)
          .status()
          .message(),
      HasSubstr("--columns does not name field `row`, which --id wants"));
}

TEST_F(DelimitedTest, RowsOfAnotherLengthAreBad) {
  record.dense("x", 2);
  EXPECT_THAT(errorOfText("1,2\n3\n"),
              HasSubstr("bad.csv:2:2: the row has 1 cells where line 1 has 2"));
  EXPECT_THAT(errorOfText("1,2\n3,4,5\n"),
              HasSubstr("bad.csv:2:3: the row has 3 cells where line 1 has 2"));
}

TEST_F(DelimitedTest, BadQuotesAreNamedAndDoNotSwallowTheFile) {
  record.ids("x", 2);
  EXPECT_THAT(errorOfText("a,b\n\"c,d\ne,f\n"),
              HasSubstr("bad.csv:2:1: the quote is never closed"));
  EXPECT_THAT(errorOfText("a,b\nc,\"d\"e\n"),
              HasSubstr("bad.csv:2:2: text follows the closing quote"));
  DataOptions options;
  options.files = {put("a.csv", "a,b\n\"c,d\ne,f\n")};
  options.maxBadRows = 1;
  Batch batch = readAll(options);
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("a"), hashOf("b"), hashOf("e"), hashOf("f")));
}

TEST_F(DelimitedTest, BadRowsAreSkippedUpToTheLimitAndReported) {
  record.dense("x", 2);
  record.ragged("y");
  DataOptions options;
  options.files = {put("a.csv", "1,2,a\n3,bad,b\n5,6\n7,8,c\n")};
  options.batchSize = 10;
  options.maxBadRows = 2;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1.f, 2.f, 7.f, 8.f));
  EXPECT_THAT(values<int64_t>(batch, 1), ElementsAre(hashOf("a"), hashOf("c")));
  EXPECT_EQ(source->badRowCount(), 2);
  ASSERT_EQ(source->badRowSentences().size(), 2u);
  EXPECT_THAT(source->badRowSentences()[1], HasSubstr("a.csv:3:3: "));
  options.maxBadRows = 1;
  EXPECT_THAT(errorOf(options),
              HasSubstr("a.csv:3:3: the row has 2 cells where line 1 has 3; "
                        "this is bad row 2, and --max-bad-rows 1 allows no "
                        "more"));
}

TEST_F(DelimitedTest, FilesThatCannotBeReadAreNamed) {
  record.dense("x");
  DataOptions options;
  EXPECT_THAT(errorOf(options), HasSubstr("no data files are given"));
  options.files = {folder / "absent.csv"};
  EXPECT_THAT(errorOf(options),
              HasSubstr("absent.csv: cannot be read: No such file"));
  options.files = {put("a.data", "1\n")};
  EXPECT_THAT(errorOf(options), testing::AllOf(HasSubstr(".csv, .tsv or .txt"),
                                               HasSubstr("--delimiter")));
  options.files = {put("a.txt", "1\n")};
  EXPECT_EQ(errorOf(options), "");
  options.delimiter = ';';
  EXPECT_EQ(errorOf(options), "");
  options.delimiter = 0;
  options.files = {put("cut.csv.gz", "")};
  std::filesystem::resize_file(options.files[0], 12);
  EXPECT_THAT(errorOf(options), HasSubstr("cannot be decompressed"));
  options.files = {folder};
  options.delimiter = ',';
  EXPECT_THAT(errorOf(options), HasSubstr("cannot be read: Is a directory"));
}

TEST_F(DelimitedTest, ATruncatedArchiveIsAnErrorNotAnEnd) {
  record.dense("x");
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += std::to_string(i * 7919 % 10007) + "\n";
  DataOptions options;
  options.files = {put("a.csv.gz", text)};
  EXPECT_EQ(errorOf(options), "");
  std::filesystem::resize_file(
      options.files[0], std::filesystem::file_size(options.files[0]) / 2);
  EXPECT_THAT(errorOf(options), HasSubstr("damaged or incomplete"));
}

// Rows of all lengths, in steps of which bytes are looked at together, with and
// without blanks that do not belong to cells.
TEST_F(DelimitedTest, CellsEndWhereTheyEnd) {
  constexpr int64_t width = 5;
  record.ids("x", width);
  record.dense("number", 2).missing_kind = PDL_MISSING_VALUE;
  std::mt19937 random(3);
  std::string text;
  std::vector<int64_t> ids;
  std::vector<float> numbers;
  for (int row = 0; row < 1000; ++row) {
    const bool hasBlanks = row % 3 == 0;
    for (int64_t slot = 0; slot < width; ++slot) {
      const size_t size = slot == 2 ? 8 : 2 + random() % (1 + row % 30);
      std::string cell(size, 'a');
      for (char &c : cell)
        c = char('a' + random() % 26);
      ids.push_back(hashOf(cell));
      const std::string blanks =
          hasBlanks ? std::string(random() % 3, ' ') : "";
      text += blanks + cell + blanks + "\t";
    }
    for (int i = 0; i < 2; ++i) {
      const bool isMissing = random() % 4 == 0;
      const int64_t number = int64_t(random() % 20'000'000);
      numbers.push_back(isMissing ? 0 : float(number));
      text += (isMissing ? "" : std::to_string(number)) + (i ? "\n" : "\t");
    }
  }
  Batch batch = readAll(put("a.tsv", text));
  EXPECT_EQ(values<int64_t>(batch, 0), ids);
  EXPECT_EQ(values<float>(batch, 1), numbers);
}

TEST_F(DelimitedTest, RowsLongerThanTheBuffer) {
  record.ids("x", 2);
  const std::string longText(3 << 20, 'x');
  Batch batch = readAll(put("a.csv", "a,b\n" + longText + ",c\nd,e"));
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("a"), hashOf("b"), hashOf(longText),
                          hashOf("c"), hashOf("d"), hashOf("e")));
}

TEST_F(DelimitedTest, NothingButHeaderOrBlanksIsNoRecord) {
  record.dense("x");
  for (const char *text : {"", "\n\n", "  \r\n"}) {
    DataOptions options;
    options.files = {put("a.csv", text)};
    EXPECT_EQ(readAll(options).size(), 0);
  }
  DataOptions options;
  options.header = true;
  options.files = {put("a.csv", "x\n")};
  EXPECT_EQ(readAll(options).size(), 0);
}

} // namespace
