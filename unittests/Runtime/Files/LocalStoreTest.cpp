//===- LocalStoreTest.cpp - Files of this host as a store -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestFolder.h"
#include "pdlrt/Files/Store.h"

#include "gmock/gmock.h"

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class LocalStoreTest : public testing::Test {
protected:
  void put(const std::string &name, const std::string &text) {
    auto writer = store.create(here.file(name), text.size());
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    ASSERT_TRUE((*writer)->write(text.data(), text.size()).ok());
    ASSERT_TRUE((*writer)->commit().ok());
  }
  TestFolder here;
  Store &store = localStore();
};

TEST_F(LocalStoreTest, WritesListsAndReads) {
  put("p/b/1", "one");
  put("p/a", "abcdef");
  const auto all = store.list(here.file("p"), true);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].path, here.file("p/a"));
  EXPECT_EQ((*all)[0].bytes, 6u);
  const auto direct = store.list(here.file("p"), false);
  ASSERT_TRUE(direct.ok());
  EXPECT_EQ(direct->size(), 1u);
  const auto folders = store.listFolders(here.file("p"));
  ASSERT_TRUE(folders.ok());
  EXPECT_THAT(*folders, ElementsAre(here.file("p/b")));
  const auto missing = store.list(here.file("none"), true);
  ASSERT_TRUE(missing.ok());
  EXPECT_TRUE(missing->empty());
  EXPECT_EQ(*readStoredFile(here.file("p/b/1"), 3), "one");
  EXPECT_THAT(readStoredFile(here.file("p/b/1"), 2).status().message(),
              HasSubstr("has 3 bytes"));
}

TEST_F(LocalStoreTest, DropsWhatIsNotCommitted) {
  {
    auto writer = store.create(here.file("x"), 1);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->write("x", 1).ok());
    EXPECT_FALSE((*store.find(here.file("x"))).has_value());
  }
  EXPECT_TRUE(store.list(here.file("."), true)->empty());
}

TEST_F(LocalStoreTest, PublishesOnce) {
  const std::string path = here.file("m");
  ASSERT_TRUE(store.publish(path, "1", {}).ok());
  EXPECT_EQ(store.publish(path, "2", {}).code(), PDL_FAILED_PRECONDITION);
  EXPECT_EQ(here.read("m"), "1");
  const auto info = store.find(path);
  ASSERT_TRUE(info.ok() && *info);
  ASSERT_TRUE(store.publish(path, "33", {(*info)->version}).ok());
  EXPECT_EQ(store.publish(path, "4", {(*info)->version}).code(),
            PDL_FAILED_PRECONDITION);
  EXPECT_EQ(here.read("m"), "33");
  // Nothing else is left in the folder.
  EXPECT_EQ(store.list(here.file("."), true)->size(), 1u);
  EXPECT_TRUE(store.remove(path).ok());
  EXPECT_TRUE(store.remove(path).ok());
}

TEST_F(LocalStoreTest, PinsTheFirstVersion) {
  const std::string path = here.write("x", "abc");
  ASSERT_TRUE(openPinned(path).ok());
  here.write("x", "abcd");
  EXPECT_EQ(pinnedInfo(path)->bytes, 3u);
  EXPECT_THAT(openPinned(path).status().message(),
              HasSubstr("was changed or removed"));
}

} // namespace
