//===- SaveFolderTest.cpp - Folder for a server's checkpoints -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFolder.h"

#include "pdlrt/Server/SaveFolder.h"

#include <gmock/gmock.h>

#include <filesystem>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

TEST(SaveFolder, OfAFlagIsTheOnlyOne) {
  const TestFolder folder;
  std::filesystem::create_directories(folder.file("saved/step-1.tmp.7"));
  std::filesystem::create_directories(folder.file("other"));
  SaveFolder saves(folder.file("saved"));
  EXPECT_THAT(saves.check("").message(),
              testing::AllOf(HasSubstr("nothing would be saved"),
                             HasSubstr(folder.file("saved"))));
  EXPECT_TRUE(saves.check(folder.file("saved")).ok());
  EXPECT_TRUE(saves.check(folder.file("other/../saved/")).ok());
  EXPECT_THAT(saves.check(folder.file("other")).message(),
              testing::AllOf(HasSubstr("--checkpoint"),
                             HasSubstr(folder.file("saved"))));
  saves.take(folder.file("other"));
  EXPECT_TRUE(saves.allows(folder.file("saved/step-1.tmp.7")).ok());
  EXPECT_TRUE(saves.allows(folder.file("saved/step-2.tmp.7")).ok());
  for (const char *name : {"other", "saved/..", "saved2", "saved/../other", ""})
    EXPECT_THAT(saves.allows(folder.file(name)).message(),
                HasSubstr("writes below"))
        << name;
  EXPECT_FALSE(saves.allows("/etc").ok());
  // Create a link to a folder outside.
  std::filesystem::create_directory_symlink(folder.file("other"),
                                            folder.file("saved/link"));
  EXPECT_FALSE(saves.allows(folder.file("saved/link")).ok());
}

TEST(SaveFolder, FilesAreWrittenIntoUnfinishedCheckpointsOnly) {
  const TestFolder folder;
  std::filesystem::create_directories(folder.file("saved/step-3"));
  std::filesystem::create_directories(folder.file("other"));
  std::filesystem::create_directory_symlink(folder.file("other"),
                                            folder.file("saved/step-1.tmp.1"));
  std::filesystem::create_directory_symlink(folder.file("saved/step-3"),
                                            folder.file("saved/step-3.tmp.1"));
  SaveFolder saves(folder.file("saved"));
  saves.allowAlso(folder.file("emergency"));
  for (const char *name : {"saved/step-000000000007.tmp.17-1",
                           "emergency/step-000000000007.tmp.17-1"})
    EXPECT_TRUE(saves.allowsSave(folder.file(name)).ok()) << name;
  for (const char *name :
       {"saved/step-3", "saved/step-1.tmp.1", "saved/step-3.tmp.1", "saved",
        "saved/step-x.tmp.1", "saved/step-4.tmp.1/more",
        "saved/step-4.tmp.1/../step-5.tmp.1", "other/step-4.tmp.1",
        "saved/step-4.old.1"})
    EXPECT_THAT(saves.allowsSave(folder.file(name)).message(),
                HasSubstr("a request to save names"))
        << name;
}

TEST(SaveFolder, WithoutAFlagTheFirstTrainerNamesIt) {
  const TestFolder folder;
  SaveFolder saves;
  EXPECT_THAT(saves.allows(folder.file("a/b")).message(),
              HasSubstr("no trainer joined with --checkpoint"));
  EXPECT_TRUE(saves.check(folder.file("a")).ok());
  saves.take(folder.file("a"));
  EXPECT_TRUE(saves.allows(folder.file("a/b")).ok());
  EXPECT_FALSE(saves.allows(folder.file("b/b")).ok());
  EXPECT_FALSE(saves.check(folder.file("b")).ok());
  saves.take(folder.file("b"));
  EXPECT_FALSE(saves.allows(folder.file("b/b")).ok());
}

TEST(SaveFolder, WhereEverybodyMayTakePartOnlyTheFlagCounts) {
  const TestFolder folder;
  SaveFolder saves("");
  EXPECT_TRUE(saves.check("").ok());
  EXPECT_THAT(saves.check(folder.file("a")).message(),
              HasSubstr("start the servers with the same --checkpoint"));
  saves.take(folder.file("a"));
  EXPECT_FALSE(saves.allows(folder.file("a/b")).ok());
}

} // namespace
