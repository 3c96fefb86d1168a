//===- NamedRowsTest.cpp - Formats whose rows name their values -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DelimitedFixture.h"

#include "Data/FieldTexts.h"
#include "Data/JsonScanner.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class NamedRowsTest : public DelimitedFixture {
protected:
  DataOptions optionsOf(const std::string &name, const std::string &text) {
    DataOptions options;
    options.files = {put(name, text)};
    return options;
  }
};

TEST_F(NamedRowsTest, JsonValuesBecomeFields) {
  pdl_field &x = record.dense("x", 2);
  x.missing_kind = PDL_MISSING_VALUE;
  x.missing_value = -1;
  record.ids("id");
  record.ragged("bag");
  record.raggedNumbers("weights");
  const Batch batch = readAll(
      put("a.jsonl",
          "{\"x\": [1, 2.5e1], \"id\": \"u\", \"bag\": [\"a\", 7, true], "
          "\"weights\": [0.5, 2], \"other\": {\"deep\": [{}, [1, \"]\"]]}}\n"
          "{\"id\":7,\"bag\":null,\"x\":[null,3],\"weights\":[]}\r\n"
          "\t{\"id\":\" \\u00e9\\ud83d\\ude00\\n \",\"x.0\":4,\"x.1\":\"5\","
          "\"bag\":\"b\",\"weights\":1}\n"
          "{\"id\":\"?x\",\"x\":null}"));
  ASSERT_EQ(batch.size(), 4);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 25, -1, 3, 4, 5, -1, -1));
  // Blanks and line breaks around a text are trimmed as in delimited text.
  EXPECT_THAT(values<int64_t>(batch, 1),
              ElementsAre(hashOf("u"), hashOf("7"),
                          hashOf("\u00e9\U0001f600\n"), hashOf("?x")));
  EXPECT_THAT(
      values<int64_t>(batch, 2),
      ElementsAre(hashOf("a"), hashOf("7"), hashOf("true"), hashOf("b")));
  EXPECT_THAT(splits(batch, 2), ElementsAre(0, 3, 3, 4, 4));
  EXPECT_THAT(values<float>(batch, 3), ElementsAre(0.5, 2, 1));
  EXPECT_THAT(splits(batch, 3), ElementsAre(0, 2, 2, 3, 3));
}

TEST_F(NamedRowsTest, JsonListsOfBags) {
  record.ragged("bag", 2).separator = '|';
  const Batch batch =
      readAll(put("a.json.gz", "{\"bag\": [[\"a|b\", \"c\"], []]}\n"
                               "{\"bag\": [\"a|b|\", null]}\n"
                               "{\"bag.1\": [\"d\"]}\n{\"bag\": null}\n"));
  ASSERT_EQ(batch.size(), 4);
  // A text outside of a list is like a cell. An element of a list is one value.
  EXPECT_THAT(values<int64_t>(batch, 0),
              ElementsAre(hashOf("a|b"), hashOf("c"), hashOf("a"), hashOf("b"),
                          hashOf("d")));
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 2, 2, 4, 4, 4, 5, 5, 5));
  EXPECT_THAT(errorOfText("{\"bag\": \"a\"}\n", "a.jsonl"),
              HasSubstr("has 0 bags, but the field has 2 slots"));
  // In other formats each slot has a name.
  EXPECT_THAT(values<int64_t>(readAll(put("a.slots", "bag.1:a bag.0:b\n")), 0),
              ElementsAre(hashOf("b"), hashOf("a")));
}

TEST_F(NamedRowsTest, JsonTruthAndLabels) {
  record.dense("flag");
  record.setValues(record.dense("label"), {"false", "true", "3"}, {-1, 1, 9});
  pdl_field &raw = record.ids("raw");
  raw.hash_kind = PDL_HASH_NONE;
  const Batch batch =
      readAll(put("a.ndjson", "{\"flag\":true,\"label\":false,\"raw\":"
                              "18446744073709551615}\n"
                              "{\"flag\":false,\"label\":3,\"raw\":-2}\n"
                              "{\"flag\":0,\"label\":\"true\",\"raw\":\"5\"}"));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 0, 0));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(-1, 9, 1));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(-1, -2, 5));
}

TEST_F(NamedRowsTest, MissingElementsAreAsInText) {
  pdl_field &ids = record.ragged("ids");
  ids.missing_element_kind = PDL_MISSING_TOKEN;
  ids.missing_element_token = "gap";
  ids.missing_kind = PDL_MISSING_TOKEN;
  ids.missing_token = "none";
  ids.separator = '|';
  pdl_field &numbers = record.raggedNumbers("numbers");
  numbers.missing_element_kind = PDL_MISSING_VALUE;
  numbers.missing_element_value = 8;
  numbers.missing_kind = PDL_MISSING_VALUE;
  numbers.missing_value = 9;
  numbers.separator = '|';
  const Batch json = readAll(
      put("a.jsonl", "{\"ids\":[\"a\",null,\"?\"],\"numbers\":[1,null,2]}\n"
                     "{\"ids\":[null],\"numbers\":[null]}\n{}\n"));
  const Batch text = readAll(put("a.csv", "a||?,1||2\n?,?\n,\n"));
  for (size_t field : {0, 1})
    EXPECT_EQ(splits(json, field), splits(text, field));
  EXPECT_EQ(values<int64_t>(json, 0), values<int64_t>(text, 0));
  EXPECT_EQ(values<float>(json, 1), values<float>(text, 1));
}

TEST_F(NamedRowsTest, BadJsonNamesItsPlace) {
  record.dense("x");
  record.raggedNumbers("y");
  const auto messageOf = [&](const std::string &line) {
    return errorOfText(line + "\n", "bad.jsonl");
  };
  struct Case {
    const char *line, *place, *reason;
  };
  for (const Case &each : std::initializer_list<Case>{
           {"{\"x\": 1", ":1:8: ", "the JSON ends where `,` or `}`"},
           {"[{\"x\": 1}]", ":1:1: ", "jq -c"},
           {"x", ":1:1: ", "`x` is where the `{` of an object"},
           {"{\"x\": NaN}", ":1:7: ", "write null for a missing value"},
           {"{\"x\": 01}", ":1:7: ", "`01` is no JSON value"},
           {"{\"x\": .5}", ":1:7: ", "`.5` is no JSON value"},
           {"{'x': 1}", ":1:2: ", "a string should be"},
           {"{\"x\": 1, \"x\": 2}", ":1:13: ", "has `x` twice"},
           {"{\"x\": 1} {\"x\": 2}", ":1:10: ", "the end of the line"},
           {"{\"x\": {\"a\": 1}}", ":1:7: ", "which is an object"},
           {"{\"y\": [[1]], \"x\": 1}", ":1:8: ", "is a list"},
           {"{\"x\": \"a\tb\"}", ":1:9: ", "`\\x09` is a control character"},
           {"{\"x\": \"\\ud800\"}", ":1:8: ", "invalid escape"},
           {"{\"x\": \"a", ":1:9: ", "ends inside a string"},
           {"{\"x\": [1, 2]}", ":1: field `x`: ", "2 values where the field"},
           {"{\"x\": \"a\"}", ":1: field `x`: ", "`a` is not a finite number"},
           {"{\"x\": 1e39}", ":1: field `x`: ", "is not a finite number"},
           {"{\"y\": [1]}", ":1: field `x`: ", "the row has no `x`: the value"},
           {"\n{\"x\": 1}", ":1:1: ", "the JSON ends"}}) {
    EXPECT_THAT(messageOf(each.line), HasSubstr(each.place)) << each.line;
    EXPECT_THAT(messageOf(each.line), HasSubstr(each.reason)) << each.line;
  }
  EXPECT_THAT(messageOf(std::string("{\"x\": 1}\0", 9)),
              HasSubstr(":1:9: `\\x00` is where the end of the line"));
  std::string deep;
  for (int i = 0; i < 70; ++i)
    deep += "[";
  EXPECT_THAT(messageOf("{\"z\": " + deep), HasSubstr("in each other"));
}

/// Texts, most of which are no JSON.
std::vector<std::string> jsonTexts() {
  std::vector<std::string> texts = {"{}",
                                    "{\"a\":1}",
                                    "{\"a\":-0}",
                                    "{\"a\":1.}",
                                    "{\"a\":1e}",
                                    "{\"a\":1E+5}",
                                    "{\"a\":-}",
                                    "{\"a\":+1}",
                                    "{\"a\":tru}",
                                    "{\"a\":nulls}",
                                    "{\"a\":[1,]}",
                                    "{\"a\":[,1]}",
                                    "{\"a\":1,}",
                                    "{,}",
                                    "{\"a\"}",
                                    "{\"a\":}",
                                    "{\"a\":\"\\x\"}",
                                    "{\"a\":\"\\u12g4\"}",
                                    "{\"a\":\"\\u00E9\"}",
                                    "{\"a\":\"\\udc00\"}",
                                    "{\"a\":\"\\ud800\\u0041\"}",
                                    "{\"a\" : [ ] }",
                                    "{\"a\":{\"b\":{}}}",
                                    "{\"a\":[[]]}",
                                    "{\"a\":1}}",
                                    "{\"a\":1 2}",
                                    "{\"a\":0x1}",
                                    "{\"a\":1_0}",
                                    "{\"a\":\"\x7f\"}",
                                    "{1:2}",
                                    "{\"a\":\"b\" \"c\"}",
                                    "{\"\":0}",
                                    " {\"a\":1} ",
                                    "{\"a\":-01}",
                                    "{\"a\":2.5}"};
  const std::string base =
      "{\"a\":[1.5e-3,\"x\\n\\u0041\",null,true],\"b\":{}}";
  for (size_t i = 0; i < base.size(); ++i) {
    texts.push_back(base.substr(0, i));
    texts.push_back(base.substr(0, i) + base.substr(i + 1));
    for (const char c : std::string("\",]}0-e\\ "))
      texts.push_back(base.substr(0, i) + c + base.substr(i + 1));
  }
  return texts;
}

// The same texts are JSON to another implementation.
TEST_F(NamedRowsTest, TheGrammarIsThatOfAnotherParser) {
  int64_t accepted = 0;
  for (const std::string &text : jsonTexts()) {
    JsonScanner scanner(text);
    const bool isValid = scanner.peek() == '{' && scanner.skipValue(0).ok() &&
                         (scanner.peek(), scanner.at() == text.size());
    const auto parsed =
        nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    EXPECT_EQ(isValid, parsed.is_object()) << text;
    accepted += isValid;
  }
  EXPECT_GT(accepted, 20);
}

TEST_F(NamedRowsTest, EscapesAreThoseOfAnotherParser) {
  for (const char *text :
       {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0000\\u007f\\u0080\\u07ff\"",
        "\"\\u0800\\uffff\\ud800\\udc00\\udbff\\udfff x\""}) {
    JsonScanner scanner(text);
    std::string_view found;
    std::string storage;
    ASSERT_TRUE(scanner.readString(found, storage).ok()) << text;
    EXPECT_EQ(found, nlohmann::json::parse(text).get<std::string>());
  }
}

TEST_F(NamedRowsTest, MultiSlotIsInTheOrderOfTheRecord) {
  record.dense("click");
  record.dense("dense", 3);
  record.ids("id", 2);
  record.ragged("bag");
  const Batch batch =
      readAll(put("a.multislot", "1 1 3 0.5 -1 2e1 1 7 1 8 2 9 10\n"
                                 "1 0\t3 1 2 3  1 a 1 b 0 \n"));
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 0));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(0.5, -1, 20, 1, 2, 3));
  EXPECT_THAT(values<int64_t>(batch, 2),
              ElementsAre(hashOf("7"), hashOf("8"), hashOf("a"), hashOf("b")));
  EXPECT_THAT(values<int64_t>(batch, 3),
              ElementsAre(hashOf("9"), hashOf("10")));
  EXPECT_THAT(splits(batch, 3), ElementsAre(0, 2, 2));
}

TEST_F(NamedRowsTest, MultiSlotColumnsAndIds) {
  record.dense("click");
  record.ragged("bag");
  record.ids("ins_id");
  DataOptions options = optionsOf("part-0", "1 a7 1 1 2 5 6 1 z\n");
  options.format = "multislot";
  options.columns = {"ins_id", "click", "bag", "_"};
  options.idField = "ins_id";
  const Batch batch = readAll(options, &record.program({0, 1}));
  ASSERT_EQ(batch.size(), 1);
  EXPECT_EQ(batch.copiedCell(0), "a7");
  EXPECT_THAT(values<int64_t>(batch, 1), ElementsAre(hashOf("5"), hashOf("6")));
  record = {};
  record.setPositions(record.dense("click"), {1});
  options.columns.clear();
  options.idField.clear();
  EXPECT_THAT(values<float>(readAll(options), 0), ElementsAre(1));
}

TEST_F(NamedRowsTest, BadMultiSlotNamesItsPlace) {
  record.dense("click");
  record.ragged("bag");
  const auto messageOf = [&](const std::string &line) {
    return errorOfText(line + "\n", "bad.multislot");
  };
  EXPECT_THAT(messageOf("1 1 2 5"), HasSubstr(":1:8: slot 1 has 1 of its 2"));
  EXPECT_THAT(messageOf("1 1"), HasSubstr(":1:4: the line has 1 slots"));
  EXPECT_THAT(messageOf("1 1 1 2 1 3"), HasSubstr(":1:9: the line has more"));
  EXPECT_THAT(messageOf("1 1 x 2"),
              HasSubstr(":1:5: `x` should be the number"));
  EXPECT_THAT(messageOf("1 1 99999999999 2"), HasSubstr(":1:5: "));
  EXPECT_THAT(messageOf("2 1 0 1 7"),
              HasSubstr(":1: field `click`: there are"));
}

TEST_F(NamedRowsTest, PairsNameTheirSlot) {
  record.dense("click");
  record.dense("d", 2);
  record.setNames(record.ragged("id", 2), {"101", "102"});
  const std::vector<float> clicks = {1, 0}, numbers = {0.5, 2, 3, 4};
  const std::vector<int64_t> ids = {hashOf("7"), hashOf("8:x"), hashOf("9")};
  for (const bool isSlotFirst : {true, false}) {
    const Batch batch = readAll(
        isSlotFirst ? put("a.slots", "click:1 d:0.5 101:7 d:2 103:5 101:8:x\n"
                                     "d:3 d:4 102:9 click:0\n")
                    : put("a.signs", "1:click 0.5:d 7:101 2:d 5:103 8:x:101\n"
                                     "3:d 4:d 9:102 0:click\n"));
    ASSERT_EQ(batch.size(), 2);
    EXPECT_EQ(values<float>(batch, 0), clicks);
    EXPECT_EQ(values<float>(batch, 1), numbers);
    EXPECT_EQ(values<int64_t>(batch, 2), ids);
    EXPECT_THAT(splits(batch, 2, 2), ElementsAre(0, 2, 2, 2, 3));
  }
}

TEST_F(NamedRowsTest, ShowAndClickPrecedePairs) {
  record.dense("show");
  record.dense("click");
  record.setNames(record.ragged("bag"), {"6"});
  DataOptions options = optionsOf("a.slots", "r1 3 1 6:7 6:8\n2 0 6:9\n");
  options.copyColumns = {"ins_id", "6"};
  const Batch batch = readAll(options);
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(3, 2));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(1, 0));
  EXPECT_THAT(values<int64_t>(batch, 2),
              ElementsAre(hashOf("7"), hashOf("8"), hashOf("9")));
  EXPECT_THAT(errorOfText("1 1 6:7 x\n", "bad.slots"),
              HasSubstr(":1:9: `x` has no `:`"));
  EXPECT_THAT(errorOfText("1 1 click:1\n", "bad.slots"),
              HasSubstr(":1:3: the line has a value of this name"));
}

/// Output of dump_svmlight_file of scikit-learn 1.9.1, and the values that its
/// load_svmlight_file returned for the first two rows.
constexpr const char *svmText =
    "# Generated by dump_svmlight_file from scikit-learn 1.9.1\n"
    "# Column indices are one-based\n"
    "#\n"
    "# made by scikit-learn\n"
    "1 qid:1 2:0.446 3:0.008 8:-0.482 14:-1.889\n"
    "0 qid:1 5:0.581 15:-0.163 17:-0.292 18:0.346 19:0.214\n";

TEST_F(NamedRowsTest, LibsvmOfScikitLearn) {
  record.dense("label");
  record.dense("x", 20);
  record.ids("qid");
  record.ragged("features");
  record.raggedNumbers("weights");
  const Batch batch = readAll(put("a.libsvm", svmText));
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 0));
  EXPECT_THAT(values<float>(batch, 1),
              ElementsAre(0.0f, 0.446f, 0.008f, 0.0f, 0.0f, 0.0f, 0.0f, -0.482f,
                          0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -1.889f, 0.0f, 0.0f,
                          0.0f, 0.0f, 0.0f, 0.0f, //
                          0.0f, 0.0f, 0.0f, 0.0f, 0.581f, 0.0f, 0.0f, 0.0f,
                          0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.163f, 0.0f,
                          -0.292f, 0.346f, 0.214f, 0.0f));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(hashOf("1"), hashOf("1")));
  EXPECT_THAT(splits(batch, 3), ElementsAre(0, 4, 9));
  EXPECT_EQ(values<int64_t>(batch, 3).front(), hashOf("2"));
  EXPECT_THAT(values<float>(batch, 4),
              ElementsAre(0.446f, 0.008f, -0.482f, -1.889f, 0.581f, -0.163f,
                          -0.292f, 0.346f, 0.214f));
}

TEST_F(NamedRowsTest, BadSparseLinesNameTheirPlace) {
  record.dense("label");
  record.ragged("bag");
  struct Case {
    const char *name, *line, *message;
  };
  for (const Case &each : std::initializer_list<Case>{
           {"bad.svm", "1:2 3:4", ":1:1: the line does not begin with a label"},
           {"bad.svm", "1 2:3 4", ":1:7: `4` is not INDEX:VALUE"},
           {"bad.svm", "1 a:3", ":1:3: `a` is no number of a feature"},
           {"bad.svm", "x 1:3", ":1: field `label`: `x` is not a finite"},
           {"bad.ffm", "1 2:3", ":1:3: `2:3` is not FIELD:INDEX:VALUE"},
           {"bad.ffm", "1 a:3:1", ":1:3: `a` is no number of a field"},
           {"bad.ffm", "1 99999999:3:1", ":1:3: "},
           {"bad.svm", "1 2:", ":1:3: `2:` has no value"},
           {"bad.ffm", "1 2::1", ":1:3: `2::1` is not FIELD:INDEX:VALUE"},
           {"bad.ffm", "1 2:3:", ":1:3: `2:3:` is not FIELD:INDEX:VALUE"},
           {"bad.ffm", "1 2:3:4:5", ":1:3: `2:3:4:5` is not FIELD:INDEX"},
           {"bad.slots", "label:1 :7", ":1:9: `:7` names no slot"},
           {"bad.signs", "1:label 7:", ":1:9: `7:` names no slot"}})
    EXPECT_THAT(errorOfText(std::string(each.line) + "\n", each.name),
                HasSubstr(each.message))
        << each.line;
  record.dense("second");
  EXPECT_THAT(errorOfText("1 1:1\n", "bad.svm"),
              HasSubstr("field `second` and field `label` could both be"));
}

TEST_F(NamedRowsTest, FieldsOfLibffmAreSlots) {
  record.dense("label");
  record.ragged("ids", 3);
  record.raggedNumbers("values", 3);
  const Batch batch =
      readAll(put("a.libffm", "1 0:5:0.5 2:7:1 2:8:2 9:1:1\n0 1:6:3\n"));
  ASSERT_EQ(batch.size(), 2);
  EXPECT_THAT(values<int64_t>(batch, 1),
              ElementsAre(hashOf("5"), hashOf("7"), hashOf("8"), hashOf("6")));
  EXPECT_THAT(splits(batch, 1, 3), ElementsAre(0, 1, 1, 3, 3, 4, 4));
  EXPECT_THAT(values<float>(batch, 2), ElementsAre(0.5, 1, 2, 3));
  EXPECT_THAT(splits(batch, 2, 3), ElementsAre(0, 1, 1, 3, 3, 4, 4));
}

TEST_F(NamedRowsTest, OddFiles) {
  record.dense("label");
  record.ragged("bag");
  struct Case {
    const char *name, *row;
  };
  for (const Case &each :
       std::initializer_list<Case>{{"a.jsonl", "{\"label\":1,\"bag\":[\"u\"]}"},
                                   {"a.multislot", "1 1 1 u"},
                                   {"a.slots", "label:1 bag:u"},
                                   {"a.signs", "1:label u:bag"}}) {
    const std::string row = each.row, name = each.name;
    for (const std::string &text :
         {row, "\xef\xbb\xbf" + row + "\n", row + "\r\n\r\n \n"})
      EXPECT_EQ(values<int64_t>(readAll(put(name, text)), 1),
                (std::vector<int64_t>{hashOf("u")}))
          << text;
    // An empty file has no rows, and a blank line among others is a bad row.
    EXPECT_EQ(readAll(put(name, "")).size(), 0) << name;
    EXPECT_THAT(errorOfText(row + "\n\n" + row, each.name), HasSubstr(":2:1: "))
        << name;
    EXPECT_THAT(errorOfText("PAR1\x15\x04 a", each.name),
                HasSubstr("is a Parquet file"));
  }
  const std::string line(size_t(65) << 20, ' ');
  EXPECT_THAT(errorOfText(line + "x", "a.jsonl"),
              HasSubstr(":1: the line is longer than 64 MiB"));
}

TEST_F(NamedRowsTest, FlagsOfCellsAreRefused) {
  record.dense("label");
  for (const char *name : {"a.jsonl", "a.slots", "a.signs", "a.svm", "a.ffm",
                           "a.multislot", "a.tfrecord"}) {
    DataOptions options = optionsOf(name, "");
    options.delimiter = ',';
    EXPECT_THAT(errorOf(options), HasSubstr("give --format text")) << name;
    options = optionsOf(name, "");
    options.header = true;
    EXPECT_THAT(errorOf(options), HasSubstr("are for delimited text")) << name;
  }
  record = {};
  record.setPositions(record.dense("x"), {0});
  EXPECT_THAT(errorOfText("{}\n", "a.jsonl"),
              HasSubstr("give their names in columns(...)"));
  record = {};
  record.setNames(record.dense("x"), {"x"});
  EXPECT_THAT(errorOfText("1 1\n", "a.multislot"),
              HasSubstr("give positions in columns(...)"));
}

TEST_F(NamedRowsTest, BadRowsAreSkippedAndCounted) {
  record.dense("x");
  DataOptions options = optionsOf(
      "a.jsonl", "{\"x\":1,\"row\":\"r0\"}\n{\"row\":\"r1\"}\n[]\n{\"x\":4}\n");
  options.maxBadRows = 2;
  options.copyColumns = {"row"};
  options.batchSize = 10;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 4));
  EXPECT_EQ(batch.row(1), 3);
  EXPECT_EQ(batch.copiedCell(0), "r0");
  EXPECT_EQ(source->badRowCount(), 2);
  EXPECT_THAT(source->takeCopiedCellsOfBadRows(),
              ElementsAre(testing::Pair(1, "r1")));
  options.maxBadRows = 1;
  EXPECT_THAT(errorOf(options), HasSubstr("a.jsonl:3:1: "));
}

TEST_F(NamedRowsTest, TextsOfIdsAreCopied) {
  record.dense("x");
  record.ragged("bag");
  record.ids("id").missing_kind = PDL_MISSING_TOKEN;
  DataOptions options =
      optionsOf("a.jsonl",
                "{\"x\":1,\"bag\":[\"a b\",7,null],\"id\":\"u\"}\n{\"x\":1}\n");
  options.copyTexts = true;
  // A token for a missing id is not a text of the file.
  record = {};
  record.dense("x");
  record.ragged("bag");
  pdl_field &id = record.ids("id");
  id.missing_kind = PDL_MISSING_TOKEN;
  id.missing_token = "none";
  const Batch batch = readAll(options);
  ASSERT_EQ(batch.size(), 2);
  const auto textsOf = [&](int64_t sample) {
    std::string_view rest = batch.copiedCell(sample);
    std::vector<std::vector<std::string_view>> slots(2);
    for (auto &slot : slots)
      takeFieldTexts(rest, slot);
    EXPECT_TRUE(rest.empty());
    return slots;
  };
  EXPECT_THAT(textsOf(0),
              ElementsAre(ElementsAre("a b", "7", ""), ElementsAre("u")));
  EXPECT_THAT(textsOf(1), ElementsAre(IsEmpty(), ElementsAre("")));
}

/// Rows of a label and a bag in each format.
std::string rowIn(const std::string &format, int row) {
  const std::string label = std::to_string(row % 3 == 0);
  std::string text;
  const auto each = [&](const std::string &before, const std::string &after) {
    std::string all;
    for (int i = 0; i < row % 4; ++i)
      all += before + std::to_string(10 * row + i) + after;
    return all;
  };
  if (format == "csv") {
    text = each("", "|");
    return label + "," + text.substr(0, text.empty() ? 0 : text.size() - 1);
  }
  if (format == "jsonl") {
    text = each("", ",");
    return "{\"bag\":[" + text.substr(0, text.empty() ? 0 : text.size() - 1) +
           "],\"label\":" + label + "}";
  }
  if (format == "multislot")
    return "1 " + label + " " + std::to_string(row % 4) + each(" ", "");
  if (format == "slots")
    return "label:" + label + each(" bag:", "");
  if (format == "signs")
    return label + ":label" + each(" ", ":bag");
  if (format == "libsvm")
    return label + each(" ", ":1");
  return label + each(" 0:", ":1");
}

class SameRowsTest : public NamedRowsTest,
                     public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    NamedRowsTest::SetUp();
    record.dense("label");
    record.ragged("bag").separator = '|';
  }
  DataOptions optionsIn(const std::string &format) {
    DataOptions options;
    int row = 0;
    for (int file = 0; file < 3; ++file) {
      std::string text;
      for (int i = 0; i < 23; ++i)
        text += rowIn(format, row++) + "\n";
      options.files.push_back(
          put(std::to_string(file) + "." + format + (file == 1 ? ".gz" : ""),
              text));
    }
    options.batchSize = 4;
    options.shuffleWindow = 11;
    return options;
  }
  struct Content {
    std::vector<float> labels;
    std::vector<int64_t> ids;
    std::vector<int32_t> ends;
    bool operator==(const Content &) const = default;
  };
  static std::vector<Content> restOf(BatchSource &source) {
    std::vector<Content> all;
    Batch batch;
    while (true) {
      auto more = source.next(0, batch);
      EXPECT_TRUE(more.ok()) << more.status().message();
      if (!more || !*more)
        return all;
      all.push_back({values<float>(batch, 0), values<int64_t>(batch, 1),
                     splits(batch, 1)});
    }
  }
};

TEST_P(SameRowsTest, BatchesAreThoseOfDelimitedText) {
  auto text = open(optionsIn("csv")), other = open(optionsIn(GetParam()));
  const std::vector<Content> expected = restOf(*text);
  EXPECT_EQ(expected.size(), 18u);
  EXPECT_EQ(restOf(*other), expected);
}

// Every position of an epoch can be resumed, also from a cache of parsed rows.
TEST_P(SameRowsTest, PositionsAreExact) {
  for (const bool isCached : {false, true}) {
    DataOptions options = optionsIn(GetParam());
    if (isCached)
      options.cache = folder / "cache";
    auto source = open(options);
    const std::vector<Content> all = restOf(*source);
    for (size_t passed = 0; passed <= all.size(); ++passed) {
      ASSERT_TRUE(source->beginEpoch(0).ok());
      Batch batch;
      for (size_t i = 0; i < passed; ++i)
        ASSERT_TRUE(*source->next(0, batch));
      auto resumed = open(options);
      const Status restored = resumed->restore(source->position());
      ASSERT_TRUE(restored.ok()) << restored.message();
      EXPECT_EQ(restOf(*resumed),
                std::vector<Content>(all.begin() + int64_t(passed), all.end()))
          << passed;
    }
  }
}

// Groups that share files read each row once.
TEST_P(SameRowsTest, GroupsShareFiles) {
  DataOptions options = optionsIn(GetParam());
  std::vector<std::vector<Content>> found;
  for (const char *format : {"csv", GetParam()})
    for (int32_t group = 0; group < 4; ++group) {
      auto source = open(optionsIn(format), nullptr, 4, group);
      found.push_back(restOf(*source));
    }
  for (size_t group = 0; group < 4; ++group)
    EXPECT_EQ(found[group], found[group + 4]);
}

INSTANTIATE_TEST_SUITE_P(Formats, SameRowsTest,
                         testing::Values("jsonl", "multislot", "slots", "signs",
                                         "libsvm", "libffm"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
