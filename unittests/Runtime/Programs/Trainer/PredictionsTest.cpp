//===- PredictionsTest.cpp - Files of predictions -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/Predictions.h"

#include "Data/FieldTexts.h"
#include "Support/TestFolder.h"
#include "pdlrt/Files/Safetensors.h"

#include "gmock/gmock.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class PredictionsTest : public testing::Test {
protected:
  PredictionsTest() {
    program.name = "predict";
    program.outputs = outputs;
    program.output_count = 2;
  }
  Expected<std::unique_ptr<PredictionWriter>>
  open(PredictionFormat format, const std::string &path,
       const std::string &copied = "") {
    return PredictionWriter::open(format, path, program,
                                  copied.empty() ? std::vector<std::string>()
                                                 : std::vector{copied});
  }
  /// Returns a file of rows that could not be read, with these copied cells.
  std::string written(PredictionFormat format,
                      const std::vector<std::string> &cells,
                      const std::string &copied) {
    const std::string path = folder.file("p");
    auto writer = open(format, path, copied);
    EXPECT_TRUE(writer.ok()) << writer.status().message();
    for (const std::string &cell : cells)
      EXPECT_TRUE((*writer)->writeBadRow(cell).ok());
    // The file appears only when it is complete.
    EXPECT_TRUE((*writer)->flush().ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE((*writer)->finish().ok());
    return path;
  }

  TestFolder folder;
  pdl_output outputs[2] = {{"a,b", PDL_F32, 1}, {"w", PDL_F64, 2}};
  pdl_program program{};
};

TEST_F(PredictionsTest, TheNameOfTheFileSaysTheFormat) {
  const auto formatFor = [](const std::string &path,
                            std::optional<PredictionFormat> flag = {}) {
    SessionOptions options;
    options.output = path;
    options.outputFormat = flag;
    return formatOf(options);
  };
  EXPECT_EQ(formatFor(""), PredictionFormat::Tsv);
  EXPECT_EQ(formatFor("-"), PredictionFormat::Tsv);
  EXPECT_EQ(formatFor("a.txt"), PredictionFormat::Tsv);
  EXPECT_EQ(formatFor("acsv"), PredictionFormat::Tsv);
  EXPECT_EQ(formatFor("a.csv"), PredictionFormat::Csv);
  EXPECT_EQ(formatFor("a.safetensors"), PredictionFormat::Safetensors);
  EXPECT_EQ(formatFor("a.csv", PredictionFormat::Tsv), PredictionFormat::Tsv);
  EXPECT_EQ(formatFor("-", PredictionFormat::Csv), PredictionFormat::Csv);
  EXPECT_EQ(formatFor("a.tsv", PredictionFormat::Safetensors),
            PredictionFormat::Safetensors);
}

TEST_F(PredictionsTest, CellsThatTextCannotHold) {
  const std::vector<std::string> cells = {"plain", "a\tb",   "a,b", "say \"x\"",
                                          " a",    "a\r\nb", ""};
  written(PredictionFormat::Tsv, cells, "i\td");
  EXPECT_EQ(folder.read("p"), "i d\ta,b\tw.0\tw.1\n"
                              "plain\tnan\tnan\tnan\n"
                              "a b\tnan\tnan\tnan\n"
                              "a,b\tnan\tnan\tnan\n"
                              "say \"x\"\tnan\tnan\tnan\n"
                              " a\tnan\tnan\tnan\n"
                              "a  b\tnan\tnan\tnan\n"
                              "\tnan\tnan\tnan\n");
  std::filesystem::remove(folder.file("p"));
  written(PredictionFormat::Csv, cells, "i\td");
  EXPECT_EQ(folder.read("p"), "i\td,\"a,b\",w.0,w.1\n"
                              "plain,nan,nan,nan\n"
                              "a\tb,nan,nan,nan\n"
                              "\"a,b\",nan,nan,nan\n"
                              "\"say \"\"x\"\"\",nan,nan,nan\n"
                              "\" a\",nan,nan,nan\n"
                              "\"a\r\nb\",nan,nan,nan\n"
                              ",nan,nan,nan\n");
}

TEST_F(PredictionsTest, TensorsGrowBeyondABuffer) {
  constexpr int64_t rows = 20'000;
  const std::string path =
      written(PredictionFormat::Safetensors,
              std::vector<std::string>(rows, "\xff id"), "key");
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->find("a,b")->typeAndShape(), "F32 [20000, 1]");
  EXPECT_EQ(file->find("w")->typeAndShape(), "F64 [20000, 2]");
  EXPECT_EQ(file->metadata().at("program"), "predict");
  std::vector<double> numbers(2 * rows);
  ASSERT_TRUE(file->find("w")->copyTo(numbers.data()).ok());
  for (double number : numbers)
    ASSERT_TRUE(std::isnan(number));
  ASSERT_EQ(file->find("key.splits")->typeAndShape(), "I64 [20001]");
  std::vector<int64_t> splits(rows + 1);
  ASSERT_TRUE(file->find("key.splits")->copyTo(splits.data()).ok());
  for (int64_t i = 0; i <= rows; ++i)
    ASSERT_EQ(splits[size_t(i)], 4 * i);
  ASSERT_EQ(file->find("key.values")->typeAndShape(), "U8 [80000]");
  std::string text(4 * rows, ' ');
  ASSERT_TRUE(file->find("key.values")->copyTo(text.data()).ok());
  EXPECT_EQ(text.substr(4 * rows - 8), "\xff id\xff id");
}

TEST_F(PredictionsTest, NoRows) {
  auto file =
      SafetensorsFile::open(written(PredictionFormat::Safetensors, {}, "key"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->find("w")->typeAndShape(), "F64 [0, 2]");
  EXPECT_EQ(file->find("key.splits")->typeAndShape(), "I64 [1]");
}

TEST_F(PredictionsTest, SeveralCopiedColumns) {
  const std::vector<std::string> columns = {"name", "key"};
  std::string cells;
  appendFieldText("a b", cells);
  appendFieldText("7", cells);
  for (const PredictionFormat format :
       {PredictionFormat::Csv, PredictionFormat::Safetensors}) {
    auto writer =
        PredictionWriter::open(format, folder.file("p"), program, columns);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    EXPECT_TRUE((*writer)->writeBadRow(cells).ok());
    EXPECT_TRUE((*writer)->writeBadRow("").ok());
    EXPECT_TRUE((*writer)->finish().ok());
    if (format == PredictionFormat::Csv)
      EXPECT_EQ(folder.read("p"), "name,key,\"a,b\",w.0,w.1\n"
                                  "a b,7,nan,nan,nan\n,,nan,nan,nan\n");
  }
  auto file = SafetensorsFile::open(folder.file("p"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  int64_t splits[3];
  ASSERT_TRUE(file->find("name.splits")->copyTo(splits).ok());
  EXPECT_THAT(splits, ElementsAre(0, 3, 3));
  ASSERT_TRUE(file->find("key.splits")->copyTo(splits).ok());
  EXPECT_THAT(splits, ElementsAre(0, 1, 1));
  ASSERT_EQ(file->find("key.values")->typeAndShape(), "U8 [1]");
}

TEST_F(PredictionsTest, Integers) {
  const int64_t rows[] = {5, std::numeric_limits<int64_t>::max()};
  const double numbers[] = {0.5, 1, 1.5, 2};
  const void *const values[] = {rows, numbers};
  outputs[0] = {"row", PDL_I64, 1};
  for (const PredictionFormat format :
       {PredictionFormat::Csv, PredictionFormat::Safetensors}) {
    auto writer = open(format, folder.file("p"));
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    EXPECT_TRUE((*writer)->write(values, 1, "").ok());
    EXPECT_TRUE((*writer)->writeBadRow("").ok());
    EXPECT_TRUE((*writer)->finish().ok());
    if (format == PredictionFormat::Csv)
      EXPECT_EQ(folder.read("p"), "row,w.0,w.1\n"
                                  "9223372036854775807,1.5,2\n-1,nan,nan\n");
  }
  auto file = SafetensorsFile::open(folder.file("p"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->find("row")->typeAndShape(), "I64 [2, 1]");
  int64_t read[2];
  ASSERT_TRUE(file->find("row")->copyTo(read).ok());
  EXPECT_THAT(read, ElementsAre(rows[1], -1));
}

TEST_F(PredictionsTest, WhatHasNoPlaceIsSaidFirst) {
  const auto refusal = [&](PredictionFormat format, const std::string &path,
                           const std::string &copied) {
    return open(format, path, copied).status().message();
  };
  EXPECT_THAT(refusal(PredictionFormat::Csv, folder.file("p"), "w.1"),
              HasSubstr("two columns `w.1`"));
  outputs[0].name = "key.values";
  EXPECT_THAT(refusal(PredictionFormat::Safetensors, folder.file("p"), "key"),
              HasSubstr("two columns `key.values`"));
  outputs[0].name = "w";
  EXPECT_THAT(refusal(PredictionFormat::Safetensors, folder.file("p"), ""),
              HasSubstr("two tensors have the name `w`"));
  outputs[0].name = "\xff";
  EXPECT_THAT(refusal(PredictionFormat::Safetensors, folder.file("p"), ""),
              HasSubstr("not UTF-8"));
  outputs[0].name = "a";
  for (auto format : {PredictionFormat::Tsv, PredictionFormat::Safetensors})
    EXPECT_EQ(refusal(format, "/no/folder/p", ""),
              "cannot write predictions to /no/folder/p: No such file or "
              "directory; name another file");
  // The temporary files disappear by themselves.
  auto writer = open(PredictionFormat::Safetensors, folder.file("p"));
  ASSERT_TRUE(writer.ok() && (*writer)->writeBadRow("").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
}

// /dev/full reports a full disk only while it is written.
TEST_F(PredictionsTest, AFullDiskIsAnError) {
  auto writer = open(PredictionFormat::Tsv, "/dev/full");
  ASSERT_TRUE(writer.ok());
  Status status;
  for (int i = 0; i < 10'000 && status.ok(); ++i)
    status = (*writer)->writeBadRow("");
  EXPECT_EQ(status.message(), "cannot write predictions to /dev/full: No space "
                              "left on device; name another file");
}

} // namespace
