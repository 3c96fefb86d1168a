//===- FileListsTest.cpp - Lists, folders and patterns of files -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileLists.h"
#include "TestRecord.h"

#include "gmock/gmock.h"

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class FileListsTest : public DataTest {
protected:
  void SetUp() override {
    DataTest::SetUp();
    for (const char *name :
         {"b.csv", "a.csv", "C.csv", "_SUCCESS", ".hidden", "[x].csv"})
      put(name, "1\n");
    std::filesystem::create_directory(folder / "days");
    at = folder.string() + "/";
  }
  std::vector<std::string> expanded(std::vector<std::string> entries,
                                    bool mayBeFar = false) {
    auto files = expandFileLists(entries, mayBeFar, "--data");
    EXPECT_TRUE(files.ok()) << files.status().message();
    return files ? *files : std::vector<std::string>();
  }
  std::string errorOfEntry(const std::string &entry) {
    return expandFileLists({entry}, false, "--data").status().message();
  }
  std::string at;
};

TEST_F(FileListsTest, FilesRemain) {
  EXPECT_THAT(expanded({"-", at + "none.csv", at + "b.csv"}),
              ElementsAre("-", at + "none.csv", at + "b.csv"));
}

TEST_F(FileListsTest, FoldersAndPatterns) {
  EXPECT_THAT(expanded({folder}), ElementsAre(at + "C.csv", at + "[x].csv",
                                              at + "a.csv", at + "b.csv"));
  EXPECT_THAT(expanded({at + "[ab]*.csv"}),
              ElementsAre(at + "a.csv", at + "b.csv"));
  // A file with that name is no pattern.
  EXPECT_THAT(expanded({at + "[x].csv"}), ElementsAre(at + "[x].csv"));
  EXPECT_THAT(errorOfEntry(at + "z*"), HasSubstr("no file matches"));
  EXPECT_THAT(expanded({"hdfs://x/*"}, true), ElementsAre("hdfs://x/*"));
  // Matching folders stand for their files.
  put("days/2", "1\n");
  put("days/1", "1\n");
  EXPECT_THAT(expanded({at + "d*"}), ElementsAre(at + "days/1", at + "days/2"));
  std::filesystem::create_directory(folder / "empty");
  EXPECT_THAT(errorOfEntry(at + "empty"), HasSubstr("has no files for --data"));
}

TEST_F(FileListsTest, Lists) {
  const std::string list =
      put("list.txt", "# files of a day\n\n" + at + "b.csv\r\n  " + at +
                          "?.csv  \n@" + at + "list.txt\n");
  EXPECT_THAT(expanded({"@" + list}),
              ElementsAre(at + "b.csv", at + "C.csv", at + "a.csv",
                          at + "b.csv", "@" + at + "list.txt"));
  EXPECT_THAT(errorOfEntry("@" + at + "none"),
              HasSubstr("cannot be read as a"));
  EXPECT_THAT(errorOfEntry("@" + put("empty.txt", "\n# x\n")),
              HasSubstr("lists no files"));
  EXPECT_THAT(errorOfEntry("@" + put("bad.txt", at + "z*\n")),
              HasSubstr("bad.txt: " + at + "z*: no file matches"));
}

} // namespace
