//===- LastSaveTest.cpp - Retries of a training's last save ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/LastSave.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <span>
#include <vector>

using namespace pdlrt;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Environment whose time advances only when the process sleeps.
class FakeEnvironment final : public WaitEnvironment {
public:
  Time now() const override { return time; }
  void sleep(Time::duration duration) override {
    time += duration;
    if (onSleep)
      onSleep();
  }
  bool isStopping() const override { return signals > 0; }
  int stopSignals() const override { return signals; }

  milliseconds passed() const {
    return std::chrono::duration_cast<milliseconds>(time - begin);
  }

  int signals = 0;
  std::function<void()> onSleep;

private:
  static constexpr Time begin = Time(std::chrono::hours(1));
  Time time = begin;
};

/// A job in which only sums work. `onSum` can change them, as other processes
/// would.
class FakeJob final : public Job {
public:
  explicit FakeJob(int rank = 0) : ownRank(rank) {}

  int rank() const override { return ownRank; }
  StateLocation stateLocation() const override { return StateLocation::Here; }
  ReplicaLayout layout(int groups, int workers) const override {
    return ReplicaLayout::local(groups, workers);
  }
  Expected<std::unique_ptr<StepEngine>>
  createEngine(Model & /*model*/, const pdl_program & /*program*/,
               const ReplicaLayout & /*layout*/,
               Scheduler & /*scheduler*/) override {
    return Status::internal("not used");
  }
  Status sum(std::span<int64_t> counts, std::span<double> /*sums*/) override {
    ++sums;
    return onSum ? onSum(counts) : Status();
  }
  Expected<std::unique_ptr<RestOfSave>>
  beginSave(Model & /*model*/, CheckpointWriter & /*writer*/,
            CheckpointManifest & /*manifest*/,
            const SaveScope & /*scope*/) override {
    return Status::internal("not used");
  }
  void leave(const Status & /*outcome*/) override {}

  int sums = 0;
  std::function<Status(std::span<int64_t> counts)> onSum;

private:
  const int ownRank;
};

/// Target whose own folder fails a number of times before a save succeeds.
class FakeTarget final : public LastSave::Target {
public:
  FakeTarget(const WaitEnvironment &environment, int failures)
      : environment(environment), failures(failures) {}

  bool isUnsaved() const override { return failures > 0; }
  Status retry(bool elsewhere) override {
    times.push_back(environment.now());
    triedElsewhere |= elsewhere;
    failures = elsewhere ? failuresElsewhere : failures - 1;
    return retryStatus;
  }

  std::vector<WaitEnvironment::Time> times;
  bool triedElsewhere = false;
  int failuresElsewhere = 0;
  Status retryStatus;

private:
  const WaitEnvironment &environment;
  int failures;
};

class LastSaveTest : public testing::Test {
protected:
  LastSave::Outcome run(FakeTarget &target) {
    const Expected<LastSave::Outcome> outcome =
        LastSave(job, target, environment).run(rules);
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? *outcome : LastSave::Outcome();
  }

  FakeEnvironment environment;
  FakeJob job;
  LastSave::Rules rules = {.maxRetries = 3, .hasElsewhere = true};
};

} // namespace

TEST_F(LastSaveTest, DoesNothingIfTheCheckpointIsSaved) {
  FakeTarget target(environment, 0);
  const LastSave::Outcome outcome = run(target);
  EXPECT_FALSE(outcome.hasGivenUp);
  EXPECT_FALSE(outcome.isElsewhere);
  EXPECT_TRUE(target.times.empty());
  EXPECT_EQ(environment.passed(), milliseconds(0));
}

TEST_F(LastSaveTest, RetriesAfterPausesThatDouble) {
  FakeTarget target(environment, 3);
  const WaitEnvironment::Time begin = environment.now();
  const LastSave::Outcome outcome = run(target);
  EXPECT_FALSE(outcome.hasGivenUp);
  EXPECT_FALSE(outcome.isElsewhere);
  const std::vector<WaitEnvironment::Time> expected = {
      begin + milliseconds(500), begin + milliseconds(1500),
      begin + milliseconds(3500)};
  EXPECT_EQ(target.times, expected);
}

TEST_F(LastSaveTest, TriesTheOtherFolderWhenTheOwnHasFailed) {
  FakeTarget target(environment, 100);
  const LastSave::Outcome outcome = run(target);
  EXPECT_FALSE(outcome.hasGivenUp);
  EXPECT_TRUE(outcome.isElsewhere);
  EXPECT_TRUE(target.triedElsewhere);
  EXPECT_EQ(target.times.size(), 4U);
  // The other folder is tried immediately.
  EXPECT_EQ(target.times[3], target.times[2]);
}

TEST_F(LastSaveTest, GivesUpAfterAllFolders) {
  FakeTarget target(environment, 100);
  target.failuresElsewhere = 1;
  const LastSave::Outcome outcome = run(target);
  EXPECT_TRUE(outcome.hasGivenUp);
  EXPECT_TRUE(outcome.isElsewhere);
  EXPECT_EQ(target.times.size(), 4U);

  rules.hasElsewhere = false;
  FakeTarget other(environment, 100);
  const LastSave::Outcome withoutFolder = run(other);
  EXPECT_TRUE(withoutFolder.hasGivenUp);
  EXPECT_FALSE(withoutFolder.isElsewhere);
  EXPECT_EQ(other.times.size(), 3U);
}

// A restarted process cannot repeat a save, and does not communicate with other
// processes.
TEST_F(LastSaveTest, TakesTheFirstFailureAsFinal) {
  rules.mayRetry = false;
  FakeTarget target(environment, 1);
  EXPECT_TRUE(run(target).hasGivenUp);
  EXPECT_TRUE(target.times.empty());
  EXPECT_EQ(job.sums, 0);
}

// A signal arrives after the announcement, which comes before the first sum,
// and before the wait.
TEST_F(LastSaveTest, NoticesASignalBetweenAnnouncementAndWait) {
  FakeTarget target(environment, 100);
  job.onSum = [this](std::span<int64_t> /*counts*/) {
    if (job.sums == 1)
      environment.signals = 1;
    return Status();
  };
  const LastSave::Outcome outcome = run(target);
  EXPECT_EQ(environment.passed(), milliseconds(0));
  // Only the other folder is tried.
  EXPECT_TRUE(outcome.isElsewhere);
  EXPECT_EQ(target.times.size(), 1U);
}

TEST_F(LastSaveTest, EndsAWaitAtASignal) {
  rules.hasElsewhere = false;
  FakeTarget target(environment, 100);
  environment.onSleep = [this] {
    if (environment.passed() >= milliseconds(900))
      environment.signals = 1;
  };
  EXPECT_TRUE(run(target).hasGivenUp);
  // One retry after 500 ms, and no other one.
  EXPECT_EQ(target.times.size(), 1U);
  EXPECT_LT(environment.passed(), milliseconds(1200));
}

TEST_F(LastSaveTest, EndsTheRetriesAtASignalOfAnotherProcess) {
  rules.hasElsewhere = false;
  FakeTarget target(environment, 100);
  job.onSum = [this](std::span<int64_t> counts) {
    counts[1] += environment.passed() >= milliseconds(200);
    return Status();
  };
  EXPECT_TRUE(run(target).hasGivenUp);
  EXPECT_TRUE(target.times.empty());
  EXPECT_EQ(environment.passed(), milliseconds(200));
}

// A user waits for a training that a signal has stopped.
TEST_F(LastSaveTest, RetriesForSomeSecondsAfterAnEarlierSignal) {
  rules.maxRetries = 1000;
  rules.hasElsewhere = false;
  environment.signals = 1;
  FakeTarget target(environment, 1000);
  EXPECT_TRUE(run(target).hasGivenUp);
  EXPECT_EQ(target.times.size(), 3U);
  EXPECT_LE(environment.passed(), seconds(5));

  // The training stops for a reason that no user waits for.
  rules.isHurried = false;
  FakeTarget patient(environment, 10);
  EXPECT_FALSE(run(patient).hasGivenUp);
  EXPECT_EQ(patient.times.size(), 10U);
}

TEST_F(LastSaveTest, FollowsTheFirstProcess) {
  FakeJob other(/*rank=*/1);
  // It waits without sleeping, for the sums of the first process: try again,
  // wait, try again, saved.
  const std::vector<int64_t> decisions = {2, 1, 2, 0};
  other.onSum = [&](std::span<int64_t> counts) {
    EXPECT_EQ(counts[0], 0);
    counts[0] = decisions.at(size_t(other.sums - 1));
    return Status();
  };
  FakeTarget target(environment, 0);
  const Expected<LastSave::Outcome> outcome =
      LastSave(other, target, environment).run(rules);
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->hasGivenUp);
  EXPECT_EQ(target.times.size(), 1U);
  EXPECT_EQ(other.sums, 4);
  EXPECT_EQ(environment.passed(), milliseconds(0));
}

TEST_F(LastSaveTest, ReturnsErrorsOfTheJob) {
  FakeTarget target(environment, 100);
  target.retryStatus = Status::unavailable("a server has died");
  const auto failed = LastSave(job, target, environment).run(rules);
  EXPECT_EQ(failed.status().message(), "a server has died");

  job.onSum = [](std::span<int64_t> /*counts*/) {
    return Status::unavailable("no server responds");
  };
  FakeTarget unused(environment, 100);
  const auto alone = LastSave(job, unused, environment).run(rules);
  EXPECT_EQ(alone.status().message(), "no server responds");
  EXPECT_TRUE(unused.times.empty());
}
