//===- ContentDigestTest.cpp - Comparison of file copies ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ContentDigest.h"

#include "Support/TestFolder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

using namespace pdlrt;

TEST(ContentDigestTest, CopiesAreAlikeAndOthersAreNot) {
  TestFolder here, there;
  const std::string text(100000, 'a');
  const CopiedFiles files({here.write("a", text), here.write("b", "b")});
  const auto digest = files.digest();
  ASSERT_TRUE(digest.has_value());
  EXPECT_LT(*digest, int64_t(1) << 48);
  EXPECT_EQ(files.names(), "a, b");
  EXPECT_EQ(
      CopiedFiles({there.write("a", text), there.write("b", "b")}).digest(),
      digest);
  std::set<int64_t> all = {*digest};
  // Every byte of a small file counts, and also which file contains it.
  for (const size_t at : {0, 65535, 65536, 99999}) {
    std::string changed = text;
    changed[at] = 'b';
    all.insert(
        *CopiedFiles({there.write("a", changed), there.file("b")}).digest());
  }
  all.insert(*CopiedFiles({there.file("b"), there.file("a")}).digest());
  EXPECT_EQ(all.size(), 6u);
}

TEST(ContentDigestTest, LargeFilesCountByTheirEndsAndBlocksBetween) {
  TestFolder folder;
  std::string text(size_t(24) << 20, 'a');
  const std::string path = folder.write("large", text);
  const CopiedFiles files({path});
  const auto digest = files.digest();
  ASSERT_TRUE(digest.has_value());
  for (const size_t at : {size_t(0), text.size() - 1}) {
    std::string changed = text;
    changed[at] = 'b';
    folder.write("large", changed);
    EXPECT_NE(files.digest(), digest) << at;
  }
  // Other labels in some rows of each hundredth of the file.
  for (size_t at = 1000; at < text.size(); at += text.size() / 100)
    for (size_t i = at; i < at + 200000 && i < text.size(); ++i)
      text[i] = 'b';
  folder.write("large", text);
  EXPECT_NE(files.digest(), digest);
}

TEST(ContentDigestTest, WhatCannotBeReadHasNone) {
  TestFolder folder;
  const std::string path = folder.write("data", "rows");
  const CopiedFiles files({path});
  EXPECT_TRUE(files.digest().has_value());
  folder.write("data", "more rows");
  EXPECT_FALSE(files.digest().has_value());
  std::filesystem::remove(path);
  EXPECT_FALSE(files.digest().has_value());
  EXPECT_TRUE(CopiedFiles({"-"}).isEmpty());
}
