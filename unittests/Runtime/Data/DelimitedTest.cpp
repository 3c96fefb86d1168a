//===- DelimitedTest.cpp - Cells of CSV and TSV files ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/DataFlags.h"
#include "Data/FieldTexts.h"
#include "DelimitedFixture.h"

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

using DelimitedTest = DelimitedFixture;

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

// Short integers have a separate parser; test it at any place of a row.
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
  for (const char *missing : {"nan", "NA", "-"})
    EXPECT_THAT(errorOfText(std::string("1\n2\n") + missing + "\n"),
                HasSubstr("if it stands for a missing number, write "
                          "missing_texts([\"?\", \"" +
                          std::string(missing) + "\"])"));
  EXPECT_THAT(errorOfText("1\n?\n"),
              HasSubstr("bad.csv:2:1: field `age`: the value is missing"));
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

// The message names the field that has text ids but no hash.
TEST_F(DelimitedTest, TextIdsRequireAHash) {
  record.dense("label");
  record.ids("id").hash_kind = PDL_HASH_NONE;
  EXPECT_THAT(errorOfText("1,7\n1,u7\n"),
              testing::AllOf(HasSubstr("bad.csv:2:2: field `id`: `u7` is not a "
                                       "decimal integer of 64 bits"),
                             HasSubstr("give the field `hash(...)`")));
}

// A bad first row is treated like any other bad row.
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
  // This holds even if only the first row could tell the number of cells.
  record = {};
  auto &x = record.dense("x");
  record.setPositions(x, {1});
  DataOptions options;
  options.maxBadRows = 1;
  options.files = {put("b.csv", "1\n2,3,4\n5,6,7\n")};
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(3.f, 6.f));
}

// Each sample has its row number and its copied cells.
TEST_F(DelimitedTest, RowsAndCopiedCells) {
  record.dense("x");
  DataOptions options;
  options.header = true;
  options.copyColumns = {"id"};
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
  options.copyColumns = {"2"};
  source = open(options);
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_EQ(batch.copiedCell(0), "2");
  for (const char *wrong : {"who", "0", "3", "-1", "0x1"}) {
    options.copyColumns = {"id", wrong};
    EXPECT_THAT(errorOf(options), HasSubstr("--copy-column")) << wrong;
  }
}

TEST_F(DelimitedTest, SeveralCellsAreCopied) {
  record.dense("x");
  DataOptions options;
  options.header = true;
  options.copyColumns = {"name", "1"};
  options.maxBadRows = 9;
  options.files = {put("a.csv", "id,x,name\nu1,1,\"a, b\"\nu2,bad,\n\n,2,c\n")};
  auto source = open(options);
  const auto cellsOf = [](std::string_view copied) {
    std::vector<std::string> cells;
    for (int i = 0; i < 2; ++i)
      cells.emplace_back(takeCopiedCell(copied, 2));
    EXPECT_TRUE(copied.empty());
    return cells;
  };
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(cellsOf(batch.copiedCell(0)), ElementsAre("a, b", "u1"));
  EXPECT_THAT(cellsOf(batch.copiedCell(1)), ElementsAre("c", ""));
  const auto ofBadRows = source->takeCopiedCellsOfBadRows();
  ASSERT_EQ(ofBadRows.size(), 2U);
  EXPECT_THAT(cellsOf(ofBadRows.at(1)), ElementsAre("", "u2"));
  EXPECT_THAT(cellsOf(ofBadRows.at(2)), ElementsAre("", ""));
  EXPECT_THAT(cellsOf(""), ElementsAre("", ""));
}

// Texts of all ids that the program reads, and of no other field.
TEST_F(DelimitedTest, TextsOfIdsAreLetThrough) {
  record.dense("x");
  pdl_field &bag = record.ragged("bag", 2);
  bag.separator = '|';
  record.ids("id");
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
    for (int slot = 0; slot < 3; ++slot)
      takeFieldTexts(rest, slots.emplace_back());
    EXPECT_TRUE(rest.empty());
    return slots;
  };
  EXPECT_THAT(textsOf(0), ElementsAre(ElementsAre("a", "b", "", "?"), IsEmpty(),
                                      ElementsAre("q,\"w")));
  EXPECT_THAT(textsOf(1), ElementsAre(ElementsAre("?"), ElementsAre("c"),
                                      ElementsAre("0")));
  EXPECT_THAT(source->takeCopiedCellsOfBadRows(), IsEmpty());
}

// An id is copied as it is written, whether or not the program reads it, and at
// any position of its field.
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
  ASSERT_EQ(source->badRowMessages().size(), 2u);
  EXPECT_THAT(source->badRowMessages()[1], HasSubstr("a.csv:3:3: "));
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
  EXPECT_THAT(errorOf(options), testing::AllOf(HasSubstr(".csv, .tsv, .txt"),
                                               HasSubstr("--delimiter")));
  options.files = {put("a.txt", "1\n")};
  EXPECT_EQ(errorOf(options), "");
  options.delimiter = ';';
  EXPECT_EQ(errorOf(options), "");
  options.delimiter = 0;
  options.files = {put("cut.csv.gz", "")};
  std::filesystem::resize_file(options.files[0], 12);
  EXPECT_THAT(errorOf(options), HasSubstr("cannot be decompressed"));
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

// Rows of all lengths, in which the parser reads several bytes at a time, with
// and without blanks that do not belong to cells.
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

TEST_F(DelimitedTest, NothingButAHeaderIsNoRecord) {
  record.dense("x");
  DataOptions options;
  options.files = {put("a.csv", "")};
  EXPECT_EQ(readAll(options).size(), 0);
  options.header = true;
  options.files = {put("a.csv", "x\n")};
  EXPECT_EQ(readAll(options).size(), 0);
}

// Each line is a row, because predictions are joined to lines by number.
TEST_F(DelimitedTest, BlankLinesOfOneColumnAreRows) {
  auto &x = record.dense("x");
  x.missing_kind = PDL_MISSING_VALUE;
  x.missing_value = -1;
  const std::vector<float> rows{1, -1, -1, 2, -1};
  EXPECT_EQ(values<float>(readAll(put("a.csv", "1\n\n \r\n2\n\n")), 0), rows);
  DataOptions options;
  options.header = true;
  options.files = {put("named.tsv", "x\n1\n\n \n2\n\n")};
  EXPECT_EQ(values<float>(readAll(options), 0), rows);
  options.header = false;
  options.files = {put("blank.csv", "\n\n")};
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(-1, -1));
  // They also count among rows that are skipped.
  options.rows = *RowRange::parse("2:4");
  options.files = {put("a.csv", "\n\n\n7\n")};
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(-1, 7));
  options.rows = *RowRange::parse("50%:");
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(-1, 7));
  x.missing_kind = PDL_MISSING_ERROR;
  EXPECT_THAT(errorOfText("1\n\n2\n"),
              HasSubstr("bad.csv:2:1: field `x`: the value is missing"));
}

TEST_F(DelimitedTest, BlankLinesOfOneColumnAreEmptyBags) {
  record.ragged("bag").separator = ' ';
  Batch batch = readAll(put("a.txt", "a b\n\nc\n\n"));
  ASSERT_EQ(batch.size(), 4);
  EXPECT_THAT(splits(batch, 0), ElementsAre(0, 2, 2, 3, 3));
}

// If rows have several cells, a blank line is no valid row. It is a bad row,
// except at the end of a file.
TEST_F(DelimitedTest, BlankLinesAmongSeveralColumnsAreBadRows) {
  record.dense("x", 2);
  for (const char *text : {"1,2\n\n3,4\n", "1,2\n  \r\n3,4\n"})
    EXPECT_THAT(errorOfText(text), HasSubstr("bad.csv:2:1: the line is blank, "
                                             "and rows follow it"));
  EXPECT_THAT(errorOfText("\n1,2\n"), HasSubstr("bad.csv:1:1: the line is"));
  for (const char *text : {"1,2\n3,4\n\n", "1,2\n3,4\n \r\n\n  "}) {
    Batch batch = readAll(put("end.csv", text));
    EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 2, 3, 4));
  }
  DataOptions options;
  options.files = {put("a.csv", "\n1,2\n\n\n3,4\n\n")};
  options.maxBadRows = 3;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(batch.row(1), 4);
  EXPECT_FALSE(*source->next(0, batch));
  EXPECT_EQ(source->settledRows(), 5);
  options.files = {put("blank.csv", "\n\n")};
  EXPECT_EQ(readAll(options).size(), 0);
  // A tab ends a cell, and is not a blank.
  options.maxBadRows = 0;
  record = {};
  record.ragged("bag", 2);
  options.files = {put("a.tsv", "a\tb\n\t\n")};
  EXPECT_EQ(readAll(options).size(), 2);
}

TEST_F(DelimitedTest, ManyBlankLinesInTheMiddleAndAtTheEnd) {
  record.dense("x", 2);
  DataOptions options;
  const std::string blanks(3 << 20, '\n');
  options.files = {put("a.csv", "1,2\n" + blanks + "3,4\n" + blanks)};
  options.maxBadRows = 3 << 20;
  Batch batch = readAll(options);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(batch.row(1), (3 << 20) + 1);
}

TEST_F(DelimitedTest, QuotesByDelimiterAndByFlag) {
  record.ids("a", 2);
  DataOptions options;
  // Quotes are allowed by default if commas or semicolons end cells.
  options.files = {put("a.txt", "\"x;y\";\"z\"\n")};
  options.delimiter = ';';
  EXPECT_THAT(values<int64_t>(readAll(options), 0),
              ElementsAre(hashOf("x;y"), hashOf("z")));
  options.quote = '\0';
  options.files = {put("b.txt", "\"x\";\"z\"\n")};
  EXPECT_THAT(values<int64_t>(readAll(options), 0),
              ElementsAre(hashOf("\"x\""), hashOf("\"z\"")));
  for (const char delimiter : {'\t', '|', ' '}) {
    const std::string d(1, delimiter);
    options.delimiter = delimiter;
    options.quote = '"';
    options.files = {put("c.txt", "\"x" + d + "\n\"\"y\"" + d + "\"z\"\n")};
    EXPECT_THAT(values<int64_t>(readAll(options), 0),
                ElementsAre(hashOf("x" + d + "\n\"y"), hashOf("z")))
        << delimiter;
    options.quote = '\'';
    options.files = {put("d.txt", "'it''s'" + d + "\"\n")};
    EXPECT_THAT(values<int64_t>(readAll(options), 0),
                ElementsAre(hashOf("it's"), hashOf("\"")));
  }
  options.header = true;
  options.delimiter = '\t';
  options.quote = '"';
  options.files = {put("e.txt", "\"a.1\"\t\"a.0\"\n\"x\"\ty\n")};
  EXPECT_THAT(values<int64_t>(readAll(options), 0),
              ElementsAre(hashOf("y"), hashOf("x")));
  options.quote = '\t';
  EXPECT_THAT(errorOf(options), HasSubstr("choose another quote (--quote)"));
}

// The names of files also determine their delimiters.
TEST_F(DelimitedTest, TheDelimiterIsNoQuote) {
  record.dense("a");
  DataOptions options;
  const std::string csv = put("a.csv", "1\n"), gone = "gone.tsv";
  for (const auto &[quote, file] :
       {std::pair(',', csv), std::pair('\t', put("a.tsv", "1\n"))}) {
    options.quote = quote;
    options.files = {file};
    EXPECT_THAT(errorOf(options), HasSubstr("choose another quote (--quote)"));
    EXPECT_FALSE(
        checkDataFlags(options, record.descriptor(), record.program()).ok());
  }
  options.quote = '"';
  options.files = {csv, gone};
  EXPECT_TRUE(
      checkDataFlags(options, record.descriptor(), record.program()).ok());
}

TEST_F(DelimitedTest, CellsInQuotesThatAreTextLeadToTheFlag) {
  record.dense("a");
  record.ids("b");
  DataOptions options;
  options.files = {put("a.tsv", "\"1.5\"\tx\n")};
  EXPECT_THAT(errorOf(options),
              HasSubstr("`\"1.5\"` is not a finite number; double quotes are "
                        "text where a tab ends a cell: if they enclose cells, "
                        "give --quote '\"'"));
  // A delimiter within quotes divides the cell.
  options.files = {put("b.tsv", "1\tx\n2\t\"y\tz\"\n")};
  EXPECT_THAT(errorOf(options), testing::AllOf(HasSubstr("the row has 3 cells"),
                                               HasSubstr("give --quote '\"'")));
  options.files = {put("c.csv", "'1.5',x\n")};
  EXPECT_THAT(errorOf(options),
              HasSubstr("single quotes are text where a comma ends a cell: if "
                        "they enclose cells, give --quote \"'\""));
  // The flag has been given.
  options.quote = '\0';
  EXPECT_THAT(errorOf(options), testing::Not(HasSubstr("--quote")));
}

TEST_F(DelimitedTest, AColumnOfQuotedCellsIsWarnedOf) {
  record.ids("a", 2);
  DataOptions options;
  testing::internal::CaptureStderr();
  options.files = {put("all.tsv", "1\t\"x\"\n2\t\"\"\n"),
                   put("some.tsv", "1\t\"x\"\n2\ty\n")};
  readAll(options);
  options.files = {put("told.tsv", "1\t\"x\"\n")};
  options.quote = '\0';
  readAll(options);
  options.quote.reset();
  options.header = true;
  options.files = {put("named.tsv", "\"a.0\"\t\"a.1\"\n1\tx\n")};
  readAll(options);
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said,
              HasSubstr("all.tsv: each cell of column 2 stands in quotes, "
                        "which are text where a tab ends a cell"));
  EXPECT_THAT(said, HasSubstr("named.tsv: names in the first line stand in"));
  for (const char *silent : {"some.tsv", "told.tsv"})
    EXPECT_THAT(said, testing::Not(HasSubstr(silent)));
  // A long file gives the warning before its end.
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += "\"1\"\t2\n";
  options = {};
  options.files = {put("long.tsv", text)};
  options.batchSize = 200;
  auto source = open(options);
  Batch batch;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(*source->next(0, batch));
  said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("long.tsv: each cell of column 1 stands in"));
}

// Other programs write ids in this form if some of a column are missing.
TEST_F(DelimitedTest, DecimalIdsAreWarnedOfWithTheirCount) {
  record.ids("user");
  record.ragged("items").separator = ' ';
  testing::internal::CaptureStderr();
  DataOptions options;
  options.files = {put("a.csv", "339907.0,7.0 8 x.0 9.0\n12,\n-5.0,1.00\n")};
  Batch batch = readAll(options);
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("339907.0"), hashOf("12"), hashOf("-5.0")));
  readAll(options);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("a.csv: field `user`: 2 ids end in `.0`, such as "
                              "`339907.0`, which is another id"));
  EXPECT_THAT(said, HasSubstr("a.csv: field `items`: 2 ids end in `.0`"));
  EXPECT_EQ(said.find("`user`"), said.rfind("`user`"));
  record = {};
  record.ids("user").hash_kind = PDL_HASH_NONE;
  EXPECT_THAT(errorOfText("1\n339907.0\n"),
              HasSubstr("write it as a whole number, without `.0`"));
}

TEST_F(DelimitedTest, FilesThatAreNotReadAreNamedAsWhatTheyAre) {
  record.dense("x");
  const auto refusal = [&](const std::string &name, const std::string &text) {
    DataOptions options;
    options.files = {put(name, text)};
    const std::string said = errorOf(options);
    EXPECT_THAT(said, HasSubstr(options.files[0] + ": is "));
    EXPECT_THAT(said, testing::Not(HasSubstr("say what ends a cell")));
    return said;
  };
  EXPECT_THAT(refusal("a.orc", "ORC"),
              HasSubstr("an ORC file, which is not read; write it as .csv"));
  EXPECT_THAT(refusal("a.csv.xz", "x"),
              HasSubstr("packed by xz, which is not unpacked (only gzip and "
                        "zstd are); pack it by one of these, or unpack it into "
                        "a pipe: xz -dc"));
  EXPECT_THAT(refusal("a.ZIP", "x"), HasSubstr("a zip archive"));
  // The content decides, not the name.
  EXPECT_THAT(refusal("b.csv", std::string("PAR1\x15\0\x15", 7)),
              HasSubstr("a Parquet file, which is read with --format parquet"));
  EXPECT_THAT(refusal("c.csv", std::string("\xfd\x37zXZ\0\0", 7)),
              HasSubstr("packed by xz"));
  DataOptions options;
  options.files = {folder};
  EXPECT_THAT(errorOf(options), HasSubstr(folder.string() +
                                          ": is a folder; name the files in "
                                          "it, for instance --data " +
                                          folder.string() + "/*.csv"));
  // A name does not matter if a flag says what the file contains.
  options.files = {put("d.pickle", "1\n")};
  options.delimiter = ',';
  EXPECT_EQ(errorOf(options), "");
}

} // namespace
