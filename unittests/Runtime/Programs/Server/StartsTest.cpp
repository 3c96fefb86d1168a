//===- StartsTest.cpp - Several processes of one trainer rank -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TwoByTwo.h"

using testing::AnyOf;
using testing::HasSubstr;

namespace {

const std::vector<std::string> waits = {"--on-failure", "wait"};

std::vector<std::string> withMore(std::vector<std::string> flags,
                                  const std::vector<std::string> &more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

/// Ends all processes in order and expects success. This shows that no process
/// was disturbed.
void endInOrder(TwoByTwo &job) {
  for (auto &trainer : job.trainers)
    kill(trainer->child.id(), SIGINT);
  for (auto &trainer : job.trainers)
    EXPECT_EQ(trainer->wait(), 128 + SIGINT) << trainer->said();
  for (auto &server : job.servers)
    EXPECT_THAT(server->wait(), AnyOf(0, 128 + SIGTERM)) << server->said();
  EXPECT_GT(stepsOf(*job.trainers[0]), 0);
  EXPECT_EQ(stepsOf(*job.trainers[0]), stepsOf(*job.trainers[1]));
}

} // namespace

TEST(Starts, AStrayStartCostsNoTrainerItsPlace) {
  TwoByTwo job;
  const auto flags = withMore(waits, {"--epochs", "1000000"});
  job.start(flags, waits);
  job.awaitTraining();
  // Starts of this job, and of another one with the same addresses.
  for (const auto &more : std::vector<std::vector<std::string>>{
           {}, {"--job", "other"}, {"--seed", "9"}}) {
    auto second = job.makeTrainer(1, withMore(flags, more));
    EXPECT_EQ(second->wait(), 1) << second->said();
    EXPECT_THAT(second->said(),
                AnyOf(HasSubstr("a second start of trainer 1 is refused"),
                      HasSubstr("is of job 'other'"), HasSubstr("--seed 9")));
  }
  // Starts with data that are missing or do not fit.
  for (const std::string &data :
       {job.place.file("none"), job.place.write("bad", "1\tx\n")}) {
    auto second = job.makeTrainer(1, withMore(flags, {"--data", data}));
    EXPECT_EQ(second->wait(), 1) << second->said();
    EXPECT_THAT(second->said(), HasSubstr(data));
  }
  // A start with an address at which no process listens.
  auto second = job.makeTrainer(
      1, withMore(flags, {"--wait", "1", "--servers",
                          "unix:" + job.place.file("a") +
                              ",unix:" + job.place.file("nobody")}));
  EXPECT_EQ(second->wait(), 1) << second->said();
  endInOrder(job);
}

TEST(Starts, ATrainerThatDiedIsReplacedAtOnceWhateverItsClockSays) {
  TwoByTwo job;
  // If it were not replaced at once, it would be after an hour.
  const std::vector<std::string> patient = {"--silence-limit", "3600"};
  const auto flags =
      withMore(withMore(waits, {"--epochs", "1000000"}), patient);
  job.start(flags, withMore(waits, patient));
  job.awaitTraining();
  kill(job.trainers[1]->child.id(), SIGKILL);
  job.trainers[1]->wait();
  // A sanitizer does not allow another preloaded library before it.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  job.startTrainer(1, flags);
#else
  job.startTrainer(1, flags, {"LD_PRELOAD=" SLOW_CALLS, "PDL_CLOCK_BACK=3600"});
#endif
  TwoByTwo::await(*job.trainers[1], "came back");
  endInOrder(job);
}

// Trainer 0 writes the checkpoints.
TEST(Starts, ATrainerThatIsReplacedWhileItIsStoppedIsFenced) {
  for (const int rank : {0, 1}) {
    TwoByTwo job;
    const auto flags =
        withMore(waits, {"--epochs", "1000000", "--checkpoint", job.saved(),
                         "--checkpoint-steps", "7"});
    job.start(flags, withMore(waits, {"--silence-limit", "2"}));
    job.awaitTraining();
    kill(job.trainers[rank]->child.id(), SIGSTOP);
    const std::unique_ptr<Process> stopped = std::move(job.trainers[rank]);
    const std::string name = "trainer " + std::to_string(rank);
    TwoByTwo::await(*job.servers[0], name + " was not heard of for");
    job.startTrainer(rank, flags);
    TwoByTwo::await(*job.trainers[rank], "came back");
    kill(stopped->child.id(), SIGCONT);
    EXPECT_EQ(stopped->wait(), 1) << stopped->said();
    EXPECT_THAT(stopped->said(), AnyOf(HasSubstr("of " + name + " is over"),
                                       HasSubstr("another start of this")));
    endInOrder(job);
    EXPECT_EQ(newestCheckpoint(job.saved()), stepsOf(*job.trainers[0]));
  }
}

// A supervisor may have restarted the trainer as if it had failed.
TEST(Starts, ATrainerOfAJobThatHasEndedEndsAtOnce) {
  for (const auto &policy :
       std::vector<std::vector<std::string>>{waits, {"--resume"}}) {
    TwoByTwo job;
    const auto flags = withMore(policy, {"--checkpoint", job.saved()});
    job.start(flags, flags);
    for (auto &trainer : job.trainers)
      EXPECT_EQ(trainer->wait(), 0) << trainer->said();
    for (auto &server : job.servers)
      EXPECT_EQ(server->wait(), 0) << server->said();
    Process &again = job.startTrainer(1, flags);
    EXPECT_EQ(again.wait(), 0) << again.said();
    EXPECT_THAT(again.child.output(), HasSubstr("the job has ended"));
    // With more to do, the trainer waits for servers.
    Process &more = job.startTrainer(
        1, withMore(flags, {"--epochs", "2", "--wait", "0.1"}));
    EXPECT_EQ(more.wait(), 3) << more.said();
  }
}

// The trainer does not wait for the folder, even if other processes of its job
// may wait.
TEST(Starts, AFolderOfAnotherJobIsNotTakenOver) {
  TwoByTwo job, other;
  const auto flags =
      withMore(waits, {"--epochs", "1000000", "--checkpoint", job.saved()});
  job.start(flags, waits);
  job.awaitTraining();
  for (int rank : {0, 1})
    other.startServer(rank, waits);
  Process &second = other.startTrainer(0, flags);
  EXPECT_EQ(second.wait(), 3) << second.said();
  EXPECT_THAT(second.said(),
              HasSubstr("another process writes its checkpoints there"));
  endInOrder(job);
}
