//===- HeaderTest.cpp - Mapping of columns to fields ----------------------===//
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

using HeaderTest = DelimitedFixture;

TEST_F(HeaderTest, ColumnsByHeaderAndByPosition) {
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
  // The field without its own columns follows the last one, at position 0.
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

// Among skipped rows it is not read, and hashed it is an id.
TEST_F(HeaderTest, AHeaderThatCountsAsARowIsWarnedOf) {
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
  EXPECT_THAT(said, Not(HasSubstr("plain.csv")));
}

TEST_F(HeaderTest, AFieldThatIsNotReadNeedsNoColumn) {
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

// The number of cells in a row never decides how columns map to fields.
TEST_F(HeaderTest, FilesWithoutAHeaderHoldWholeRecords) {
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

TEST_F(HeaderTest, AHeaderDefinesTheColumnsOfFields) {
  record.dense("label");
  record.dense("x", 2);
  record.dense("z");
  DataOptions options;
  options.header = true;
  const pdl_program &predict = record.program({1, 2});
  // In any order, among other columns, with or without unread fields.
  options.files = {put("named.csv", "z,id,x.1,x.0\n1,2,3,4\n")};
  Batch batch = readAll(options, &predict);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(4.f, 3.f));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(1.f));
  EXPECT_THAT(errorOf(options), HasSubstr("name all fields there"));
  // With other names: the whole record, in its order.
  options.files = {put("foreign.csv", "y,a,b,z\n1,2,3,4\n")};
  batch = readAll(options, &predict);
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(2.f, 3.f));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(4.f));
  options.files = {put("cut.csv", "a,b,c\n2,3,4\n")};
  EXPECT_THAT(errorOf(options, &predict),
              HasSubstr("cut.csv:1: the header has no column `x.0`, which "
                        "field `x` reads, but `a`, `b`, `c`; the row has 3 "
                        "cells, but the record has 4 columns"));
  options.files = {put("moved.csv", "z,y,a,b\n1,2,3,4\n")};
  EXPECT_THAT(errorOf(options, &predict),
              HasSubstr("moved.csv:1: the header has no column `x.0`, which "
                        "field `x` reads, but `y`, `a`, `b`; the header names "
                        "column 1 `z`, which by the order of the record is "
                        "column 4"));
  options.columns = {"z", "_", "x"};
  EXPECT_THAT(values<float>(readAll(options, &predict), 0),
              ElementsAre(3.f, 4.f));
}

TEST_F(HeaderTest, ALackingColumnIsNamedWithTheNearestOne) {
  record.dense("label");
  record.dense("price");
  record.dense("city");
  DataOptions options;
  options.header = true;
  const auto lacking = [&](const std::string &header) {
    options.files = {put("shop.csv", header + "\n1,2,3,4\n")};
    return errorOf(options);
  };
  const std::string begin =
      "shop.csv:1: the header has no column `price`, which field `price` reads";
  EXPECT_THAT(lacking("label,prise,city,note"),
              HasSubstr(begin + ", but `prise`; the row has 4 cells, but the "
                                "record has 3 columns"));
  EXPECT_THAT(lacking("label,Price,city,note"),
              HasSubstr(begin + ", but `Price`, in other letters; the row"));
  // A column of another field is not suggested.
  EXPECT_THAT(lacking("label,city,x,y"), HasSubstr(begin + ", but `x`, `y`; "));
}

// A program that reads the whole record still does; the message suggests a
// remedy.
TEST_F(HeaderTest, AHeaderThatIsReadAsDataIsSuspected) {
  record.dense("label");
  record.ids("id");
  EXPECT_THAT(errorOfText("label,id\n1,a\n"),
              testing::AllOf(HasSubstr("bad.csv:1:1: field `label`"),
                             HasSubstr("if this line names the columns, give "
                                       "--header")));
  EXPECT_THAT(errorOfText("1,a\nlabel,id\n"), Not(HasSubstr("--header")));
}

// By position, another order of columns would train another model.
TEST_F(HeaderTest, FilesReadByPositionHaveOneHeader) {
  record.dense("label");
  record.ids("user");
  record.ids("item");
  DataOptions options;
  options.header = true;
  const std::string first = put("a.csv", "y,u,i\n1,a,b\n");
  options.files = {first, put("same.csv", "y,u,i\n1,c,d\n")};
  EXPECT_THAT(values<int64_t>(readAll(options), 1),
              ElementsAre(hashOf("a"), hashOf("c")));
  const std::string swapped = put("b.csv", "y,i,u\n1,d,c\n");
  options.files = {first, swapped};
  EXPECT_THAT(errorOf(options),
              testing::AllOf(HasSubstr(swapped +
                                       ": the first line has `i` in "
                                       "column 2, where " +
                                       first + " has `u`"),
                             HasSubstr("columns are taken by their positions; "
                                       "give all files the same header")));
  // The second group reads no other file.
  auto other = BatchSource::open(options, record.descriptor(), record.program(),
                                 /*groups=*/2, /*group=*/1);
  EXPECT_THAT(other.status().message(), HasSubstr(first));
  // A file without a header would lose a row.
  options.files = {first, put("bare.csv", "1,c,d\n")};
  EXPECT_THAT(errorOf(options), HasSubstr("has `1` in column 1"));
  const std::string named = put("named.csv", "item,user,label\nb,a,1\n");
  for (const auto &files :
       {std::vector{named, first}, std::vector{first, named},
        std::vector{named, put("bare2.csv", "1,c,d\n")}}) {
    options.files = files;
    EXPECT_THAT(errorOf(options), HasSubstr("give all files the same header"));
  }
  // Columns that are found by name may be anywhere.
  options.files = {named, put("moved.csv", "x,label,user,item\n0,1,c,d\n")};
  EXPECT_THAT(values<int64_t>(readAll(options), 1),
              ElementsAre(hashOf("a"), hashOf("c")));
  // --columns are positions.
  options.columns = {"label", "user", "item"};
  options.files = {first, swapped};
  EXPECT_THAT(errorOf(options), HasSubstr("give all files the same header"));
  options.columns.clear();
  // Test data must have the same header as the training data of a job.
  options.files = {swapped};
  options.headerFile = first;
  EXPECT_THAT(errorOf(options), HasSubstr(swapped + ": the first line"));
}

TEST_F(HeaderTest, AWarningOfUnmatchedNamesHasTheFile) {
  record.dense("label");
  DataOptions options;
  options.header = true;
  options.files = {put("first.csv", "Label\n1\n"), put("next.csv", "Label\n")};
  testing::internal::CaptureStderr();
  readAll(options);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("first.csv: the header has no column `label`"));
  EXPECT_THAT(said, Not(HasSubstr("next.csv")));
}

} // namespace
