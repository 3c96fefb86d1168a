//===- FileFormatTest.cpp - Registry of data formats ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileFormat.h"
#include "Data/FileKind.h"

#include "gmock/gmock.h"

#include <set>
#include <string>

using namespace pdlrt;

namespace {

std::string formatNameOf(const std::string &path) {
  return std::string(fileFormatOf(path).name());
}

TEST(FileFormatTest, NamesIndicateFormats) {
  for (const char *text :
       {"a.csv", "a.tsv.gz", "folder/a.txt.zst", "a.data", "-", "a", ".gz",
        "a.safetensors.gz", "a.safetensors.csv", "safetensors"})
    EXPECT_EQ(formatNameOf(text), "delimited text") << text;
  for (const char *tensors : {"a.safetensors", "folder/a.csv.safetensors"})
    EXPECT_EQ(formatNameOf(tensors), "safetensors") << tensors;
}

TEST(FileFormatTest, EachSuffixHasOneFormatAndIsRead) {
  std::set<std::string> names, suffixes;
  for (const FileFormat *format : fileFormats()) {
    EXPECT_TRUE(names.emplace(format->name()).second) << format->name();
    EXPECT_FALSE(format->suffixes().empty()) << format->name();
    for (const std::string_view suffix : format->suffixes()) {
      EXPECT_TRUE(suffix.starts_with('.')) << suffix;
      EXPECT_TRUE(suffixes.emplace(suffix).second) << suffix;
      const std::string path = "no-such-folder/a" + std::string(suffix);
      EXPECT_EQ(&fileFormatOf(path), format) << path;
      const Status known = checkFileKind(path, /*isText=*/false);
      EXPECT_TRUE(known.ok()) << known.message();
      if (format->traits().mayBePacked)
        EXPECT_EQ(&fileFormatOf(path + ".gz"), format) << path;
    }
  }
}

TEST(FileFormatTest, SuffixesAreListed) {
  EXPECT_EQ(
      fileSuffixesText(),
      ".csv, .tsv or .txt (with or without .gz or .zst), or .safetensors");
}

TEST(FileFormatTest, FlagsOfTextAreRefusedForTensors) {
  DataOptions data;
  EXPECT_TRUE(fileFormatOf("a.safetensors").checkFlags("a", data).ok());
  data.header = true;
  EXPECT_TRUE(fileFormatOf("a.csv").checkFlags("a.csv", data).ok());
  EXPECT_THAT(fileFormatOf("a.safetensors").checkFlags("a", data).message(),
              testing::HasSubstr("a: its tensors have names"));
  data.quote = ',';
  EXPECT_THAT(fileFormatOf("a.csv").checkFlags("a.csv", data).message(),
              testing::HasSubstr("a.csv: "));
  EXPECT_TRUE(fileFormatOf("a.tsv").checkFlags("a.tsv", data).ok());
}

} // namespace
