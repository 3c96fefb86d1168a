//===- WatchedGroupTest.cpp - Device groups of a job that fails -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/WatchedGroup.h"

#include "pdlabi/abi/codes.h"

#include <atomic>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace pdlrt;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Behavior of a group, and whether it was aborted.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  /// True if sums wait for other devices, which never join.
  bool waits = false;
  bool isEnded = false;
  Status ofSum, ofCheck;
};

class ScriptedGroup final : public DeviceGroup {
public:
  explicit ScriptedGroup(Script &script) : script(script) {}
  std::string describe() const override { return "a script"; }
  Status gather(size_t, std::span<const Part> parts) override {
    return sum(PDL_F32, 1, parts);
  }
  Status sum(int32_t, int64_t, std::span<const Part>) override {
    std::unique_lock lock(script.mutex);
    script.changed.wait(lock, [&] { return !script.waits || script.isEnded; });
    return script.isEnded ? Status::internal("it was ended") : script.ofSum;
  }
  Status check() override {
    const std::lock_guard lock(script.mutex);
    return script.ofCheck;
  }
  void abort() override {
    const std::lock_guard lock(script.mutex);
    script.isEnded = true;
    script.changed.notify_all();
  }

private:
  Script &script;
};

class WatchedGroupTest : public testing::Test {
protected:
  std::unique_ptr<DeviceGroup> watch(milliseconds patience) {
    return watchGroup(
        std::make_unique<ScriptedGroup>(script),
        [this] {
          return jobHasFailed ? Status::invalidArgument("trainer 1 has died")
                              : Status();
        },
        patience);
  }

  Script script;
  std::atomic<bool> jobHasFailed = false;
};

TEST_F(WatchedGroupTest, WhatGoesWellIsPassedOn) {
  const auto group = watch(seconds(10));
  EXPECT_EQ(group->describe(), "a script");
  EXPECT_TRUE(group->sum(PDL_F32, 1, {}).ok());
  EXPECT_TRUE(group->gather(1, {}).ok());
  EXPECT_TRUE(group->check().ok());
  EXPECT_FALSE(script.isEnded);
}

TEST_F(WatchedGroupTest, AJobThatFailsEndsAWait) {
  script.waits = true;
  const auto group = watch(seconds(10));
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    jobHasFailed = true;
  });
  EXPECT_EQ(group->sum(PDL_F32, 1, {}).message(), "trainer 1 has died");
  // Streams may have continued with meaningless results.
  EXPECT_EQ(group->check().message(), "trainer 1 has died");
  later.join();
}

TEST_F(WatchedGroupTest, TheJobExplainsWhatWasMissedBefore) {
  script.ofSum = Status::internal("a process has ended");
  const auto group = watch(seconds(10));
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    jobHasFailed = true;
  });
  EXPECT_EQ(group->gather(1, {}).message(), "trainer 1 has died");
  later.join();
}

TEST_F(WatchedGroupTest, WhatTheJobDoesNotExplainIsTheGroupsOwn) {
  script.ofSum = Status::internal("a cable is loose");
  const auto group = watch(milliseconds(1));
  EXPECT_EQ(group->sum(PDL_F32, 1, {}).message(), "a cable is loose");
}

TEST_F(WatchedGroupTest, WorkThatHasFailedElsewhereIsEnded) {
  script.waits = true;
  script.ofCheck = Status::internal("a cable is loose");
  const auto group = watch(milliseconds(1));
  EXPECT_FALSE(group->sum(PDL_F32, 1, {}).ok());
  EXPECT_EQ(group->check().message(), "a cable is loose");
}

} // namespace
