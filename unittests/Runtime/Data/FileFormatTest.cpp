//===- FileFormatTest.cpp - Registry of data formats ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileFormat.h"
#include "Data/DataFlags.h"
#include "Data/FileKind.h"

#include "gmock/gmock.h"

#include <set>
#include <string>

using namespace pdlrt;

namespace {

const FileFormat &formatOf(const std::string &path,
                           const std::string &flag = "") {
  DataOptions data;
  data.format = flag;
  return fileFormatOf(path, data);
}

std::string formatNameOf(const std::string &path,
                         const std::string &flag = "") {
  return std::string(formatOf(path, flag).name());
}

TEST(FileFormatTest, NamesIndicateFormats) {
  for (const char *text : {"a.csv", "a.tsv.gz", "folder/a.txt.zst", "a.data",
                           "-", "a", ".gz", "a.safetensors.csv", "safetensors"})
    EXPECT_EQ(formatNameOf(text), "delimited text") << text;
  // Refused as packed (checkDataFlags).
  for (const char *tensors :
       {"a.safetensors", "folder/a.csv.safetensors", "a.safetensors.gz"})
    EXPECT_EQ(formatNameOf(tensors), "safetensors") << tensors;
  EXPECT_EQ(formatNameOf("a.jsonl.gz"), "JSON lines");
  EXPECT_EQ(formatNameOf("day=1/a.parquet"), "Parquet");
  EXPECT_EQ(formatNameOf("a.parquet.zst"), "Parquet");
  EXPECT_EQ(formatNameOf("a.feather"), "Arrow IPC");
}

TEST(FileFormatTest, OnlyStreamsMayBePackedOrTopics) {
  static const pdl_descriptor noRecord = {};
  static const pdl_program noProgram = {};
  const auto check = [](const std::string &file, const std::string &flag) {
    DataOptions data;
    data.files = {file};
    data.format = flag;
    return checkDataFlags(data, noRecord, noProgram);
  };
  for (const FileFormat *format : fileFormats()) {
    const bool isStream = format->traits().mayBePacked;
    const std::string flag(format->flag());
    EXPECT_TRUE(check("a", flag).ok());
    EXPECT_EQ(check("a.gz", flag).ok(), isStream) << flag;
    EXPECT_EQ(check("kafka://host:1/topic?end=end", flag).ok(),
              isStream || flag == "arrow")
        << flag;
  }
  EXPECT_EQ(check("a.safetensors.gz", "").message(),
            "a.safetensors.gz: is compressed as a whole, but safetensors files "
            "are read in parts; decompress it into a file first");
}

TEST(FileFormatTest, TheFlagOutweighsTheName) {
  for (const FileFormat *format : fileFormats()) {
    const std::string flag(format->flag());
    EXPECT_EQ(&formatOf("a.csv", flag), format);
    EXPECT_EQ(&formatOf("-", flag), format);
    EXPECT_EQ(*parseFileFormat(flag), flag);
  }
  EXPECT_EQ(parseFileFormat("json").status().message(),
            "'json' is no format; give text, jsonl, multislot, slots, signs, "
            "libsvm, libffm, tfrecord, parquet, arrow or safetensors");
}

TEST(FileFormatTest, EachSuffixHasOneFormatAndIsRead) {
  std::set<std::string> names, flags, suffixes;
  for (const FileFormat *format : fileFormats()) {
    EXPECT_TRUE(names.emplace(format->name()).second) << format->name();
    EXPECT_TRUE(flags.emplace(format->flag()).second) << format->flag();
    EXPECT_FALSE(format->suffixes().empty()) << format->name();
    for (const std::string_view suffix : format->suffixes()) {
      EXPECT_TRUE(suffix.starts_with('.')) << suffix;
      EXPECT_TRUE(suffixes.emplace(suffix).second) << suffix;
      const std::string path = "no-such-folder/a" + std::string(suffix);
      EXPECT_EQ(&formatOf(path), format) << path;
      const Status known = checkFileKind(path, /*isText=*/false);
      EXPECT_TRUE(known.ok()) << known.message();
      if (format->traits().mayBePacked)
        EXPECT_EQ(&formatOf(path + ".gz"), format) << path;
    }
  }
}

TEST(FileFormatTest, SuffixesAreListed) {
  EXPECT_EQ(
      fileSuffixesText(),
      ".csv, .tsv, .txt, .jsonl, .ndjson, .json, .multislot, .slots, .signs, "
      ".libsvm, .svm, .libffm, .ffm, .tfrecord or .tfrecords (with or without "
      ".gz or .zst), or .parquet, .pq, .arrow, .feather, .ipc or "
      ".safetensors");
}

TEST(FileFormatTest, FlagsOfTextAreRefusedForTensors) {
  DataOptions data;
  EXPECT_TRUE(formatOf("a.safetensors").checkFlags("a", data).ok());
  data.header = true;
  EXPECT_TRUE(formatOf("a.csv").checkFlags("a.csv", data).ok());
  EXPECT_THAT(formatOf("a.safetensors").checkFlags("a", data).message(),
              testing::HasSubstr("a: its tensors have names"));
  data.quote = ',';
  EXPECT_THAT(formatOf("a.csv").checkFlags("a.csv", data).message(),
              testing::HasSubstr("a.csv: "));
  EXPECT_TRUE(formatOf("a.tsv").checkFlags("a.tsv", data).ok());
}

TEST(FileFormatTest, FilesOfColumnsUnderOtherNamesAreRecognized) {
  const std::string bytes("PAR1\0\x15\4", 7);
  EXPECT_THAT(checkFileBeginning("a.csv", bytes).message(),
              testing::HasSubstr("a.csv: is a Parquet file, which is read with "
                                 "--format parquet"));
  DataOptions data;
  data.pipe = "cat";
  EXPECT_THAT(formatOf("a.parquet").checkFlags("a.parquet", data).message(),
              testing::HasSubstr("not through --data-pipe"));
}

} // namespace
