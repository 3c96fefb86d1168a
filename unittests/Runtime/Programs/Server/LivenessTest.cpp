//===- LivenessTest.cpp - Slow, stopped and failing jobs ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TwoByTwo.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <tuple>

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

/// Flags with which a process waits for an hour for one that is silent, so that
/// a job ends soon only if it learns of the death of a process.
static const std::vector<std::string> patient = {"--silence-limit", "3600"};

/// Returns the last line that the process wrote to its error stream.
static std::string lastLineOf(const Process &process) {
  std::istringstream lines(process.child.errors());
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty())
      last = line;
  return last;
}

//===----------------------------------------------------------------------===//
// Work that takes longer than any limit
//===----------------------------------------------------------------------===//

TEST(Liveness, ASlowSaveKillsNoJob) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's own library must come before slow calls";
#endif
  TwoByTwo job;
  // On a loaded machine, processes may be silent for seconds.
  const std::vector<std::string> limit = {"--silence-limit", "6"};
  job.startServer(0, limit, {"LD_PRELOAD=" SLOW_CALLS, "PDL_SLOW_FSYNC=15000"});
  job.startServer(1, limit);
  for (int rank : {0, 1})
    job.startTrainer(rank, {"--silence-limit", "6", "--checkpoint", job.saved(),
                            "--epochs", "2"});
  for (auto &process : job.trainers)
    EXPECT_EQ(process->wait(), 0) << process->said();
  for (auto &process : job.servers)
    EXPECT_EQ(process->wait(), 0) << process->said();
  EXPECT_THAT(job.servers[0]->said(), HasSubstr("slow fsync: 15000 ms"));
  EXPECT_EQ(newestCheckpoint(job.saved()), stepsOf(*job.trainers[0]));
}

TEST(Liveness, ASlowRestoreIsWaitedFor) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's own library must come before slow calls";
#endif
  TwoByTwo job;
  const std::vector<std::string> trainerFlags = {"--wait", "2", "--checkpoint",
                                                 job.saved(), "--epochs"};
  auto epochs = [&](const char *count) {
    std::vector<std::string> flags = trainerFlags;
    flags.emplace_back(count);
    return flags;
  };
  job.start(epochs("1"));
  for (auto &process : job.trainers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  for (auto &process : job.servers)
    ASSERT_EQ(process->wait(), 0) << process->said();

  const std::vector<std::string> resume = {"--checkpoint", job.saved(),
                                           "--resume"};
  job.startServer(0, resume, {"LD_PRELOAD=" SLOW_CALLS, "PDL_SLOW_PREAD=8000"});
  job.startServer(1, resume);
  for (int rank : {0, 1}) {
    std::vector<std::string> flags = epochs("2");
    flags.emplace_back("--resume");
    job.startTrainer(rank, flags);
  }
  for (auto &process : job.trainers) {
    EXPECT_EQ(process->wait(), 0) << process->said();
    EXPECT_THAT(process->said(), HasSubstr("/a: looking for a checkpoint in"));
  }
  for (auto &process : job.servers)
    EXPECT_EQ(process->wait(), 0) << process->said();
  EXPECT_THAT(job.servers[0]->said(), HasSubstr("slow pread: 8000 ms"));
}

// The trainer would otherwise wait for an hour.
TEST(Liveness, AServerThatDiesWhileItLoadsIsKnownAtOnce) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's own library must come before slow calls";
#endif
  TwoByTwo job;
  job.start({"--epochs", "1", "--checkpoint", job.saved()});
  for (auto &process : job.trainers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  for (auto &process : job.servers)
    ASSERT_EQ(process->wait(), 0) << process->said();

  const std::vector<std::string> resume = {"--checkpoint", job.saved(),
                                           "--resume"};
  job.startServer(0, resume,
                  {"LD_PRELOAD=" SLOW_CALLS, "PDL_SLOW_PREAD=600000"});
  job.startServer(1, resume);
  Process &trainer =
      job.startTrainer(0, {"--epochs", "2", "--checkpoint", job.saved(),
                           "--resume", "--wait", "3600"});
  TwoByTwo::await(trainer, "/a: looking for a checkpoint in");
  kill(job.servers[0]->child.id(), SIGKILL);
  EXPECT_EQ(trainer.wait(), 3) << trainer.said();
  EXPECT_THAT(trainer.said(), HasSubstr("/a has died"));
}

TEST(Liveness, AServerThatCannotLoadSendsTrainersItsError) {
  TwoByTwo job;
  job.start({"--epochs", "1", "--wait", "3600"},
            {"--init-from", job.place.file("none"), "--wait", "3600"});
  for (auto &process : job.trainers) {
    EXPECT_EQ(process->wait(), 1);
    EXPECT_THAT(process->said(), AllOf(HasSubstr("refuses: server"),
                                       HasSubstr(job.place.file("none"))));
  }
  for (auto &process : job.servers) {
    EXPECT_EQ(process->wait(), 1);
    EXPECT_THAT(process->said(), HasSubstr(job.place.file("none")));
  }
}

//===----------------------------------------------------------------------===//
// Folders of checkpoints
//===----------------------------------------------------------------------===//

// A folder that a server cannot write to must be reported before the first
// step.
TEST(Liveness, AFolderThatAServerCannotWriteToIsRefusedBeforeTheFirstStep) {
  for (const Programs &programs : {syncPrograms, asyncPrograms}) {
    // The server's own working folder differs for each process.
    for (const bool isThere : {false, true}) {
      TwoByTwo job(programs);
      const std::string here = job.place.file("here"),
                        there = job.place.file("there");
      std::filesystem::create_directories(here);
      std::filesystem::create_directories(there + (isThere ? "/saved" : ""));
      const std::string saved = "/proc/self/cwd/saved";
      job.startServer(0, {}, {"-C", here});
      job.startServer(1, {}, {"-C", there});
      for (int rank : {0, 1})
        job.startTrainer(
            rank, {"--epochs", "1", "--checkpoint", saved, "--log-losses", "-"},
            {"-C", here});
      for (auto &process : job.trainers) {
        EXPECT_EQ(process->wait(), 1) << process->said();
        EXPECT_THAT(process->said(),
                    HasSubstr("server 1 does not see the folder " + saved));
        EXPECT_THAT(process->child.output(), testing::IsEmpty());
      }
      EXPECT_TRUE(std::filesystem::is_empty(here + "/saved"));
    }
  }
}

// A full disk has no room for a single byte.
TEST(Liveness, AFolderOnAFullDiskIsRefusedBeforeTheFirstStep) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer writes a file of its own at the start";
#endif
  TwoByTwo job;
  job.startServer(0, {});
  job.startServer(1, {}, {"sh", "-c", "ulimit -f 0; exec \"$@\"", "sh"});
  for (int rank : {0, 1})
    job.startTrainer(rank, {"--epochs", "1", "--checkpoint", job.saved(),
                            "--log-losses", "-"});
  for (auto &process : job.trainers) {
    EXPECT_EQ(process->wait(), 1) << process->said();
    EXPECT_THAT(process->said(),
                HasSubstr("server 1 cannot write checkpoints to"));
    EXPECT_THAT(process->child.output(), testing::IsEmpty());
  }
}

// The server has room for a probe, but not for its part.
TEST(Liveness, NoTrainerSucceedsWithoutTheLastCheckpoint) {
  for (const Programs &programs : {syncPrograms, asyncPrograms}) {
    TwoByTwo job(programs);
    job.startServer(0, {});
    job.startServer(1, {}, {"sh", "-c", "ulimit -f 1; exec \"$@\"", "sh"});
    for (int rank : {0, 1})
      job.startTrainer(rank, {"--epochs", "1", "--checkpoint", job.saved(),
                              "--max-failed-saves", "1"});
    for (auto &process : job.trainers)
      EXPECT_EQ(process->wait(), 3) << process->said();
    EXPECT_THAT(job.trainers[0]->said(),
                HasSubstr("error: the last checkpoint was not saved: "));
    EXPECT_THAT(job.trainers[0]->said(),
                HasSubstr("cannot be written: File too large"));
    EXPECT_THAT(
        job.trainers[1]->said(),
        HasSubstr("the first trainer could not save the last checkpoint"));
    EXPECT_EQ(newestCheckpoint(job.saved()), -1);
  }
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

namespace {

enum class Order { ServersFirst, TrainersFirst, Together, OneServer };

void checkStop(const Programs &programs, Order order, int signal) {
  TwoByTwo job(programs);
  job.start({"--checkpoint", job.saved(), "--epochs", "1000000"});
  job.awaitTraining();
  auto toAll = [&](auto &processes) {
    for (auto &process : processes)
      kill(process->child.id(), signal);
  };
  const auto pause =
      std::chrono::milliseconds(order == Order::Together ? 0 : 300);
  if (order == Order::OneServer) {
    kill(job.servers[1]->child.id(), signal);
  } else if (order == Order::TrainersFirst) {
    toAll(job.trainers);
    std::this_thread::sleep_for(pause);
    // The trainers may have ended already, and the servers after them.
    toAll(job.servers);
  } else {
    toAll(job.servers);
    std::this_thread::sleep_for(pause);
    toAll(job.trainers);
  }
  for (auto &process : job.trainers)
    EXPECT_THAT(process->wait(),
                AnyOf(128 + signal,
                      order == Order::Together || order == Order::TrainersFirst
                          ? 128 + signal
                          : 128 + SIGTERM))
        << process->said();
  for (int rank : {0, 1}) {
    const int status = job.servers[rank]->wait();
    const bool mayBeDone = order == Order::TrainersFirst ||
                           (order == Order::OneServer && rank == 0);
    if (!mayBeDone || status != 0)
      EXPECT_EQ(status, 128 + signal) << job.servers[rank]->said();
  }
  // No training is lost. In mode async, trainers have not done the same number
  // of steps.
  EXPECT_GT(stepsOf(*job.trainers[0]), 0);
  EXPECT_EQ(newestCheckpoint(job.saved()),
            std::max(stepsOf(*job.trainers[0]), stepsOf(*job.trainers[1])));
}

} // namespace

class StopTest : public testing::TestWithParam<int> {};

TEST_P(StopTest, OfServersFirst) {
  checkStop(syncPrograms, Order::ServersFirst, GetParam());
  checkStop(asyncPrograms, Order::ServersFirst, GetParam());
}
TEST_P(StopTest, OfTrainersFirst) {
  checkStop(syncPrograms, Order::TrainersFirst, GetParam());
  checkStop(asyncPrograms, Order::TrainersFirst, GetParam());
}
TEST_P(StopTest, OfAllAtOnce) {
  checkStop(syncPrograms, Order::Together, GetParam());
  checkStop(asyncPrograms, Order::Together, GetParam());
}
TEST_P(StopTest, OfOneServerOnly) {
  checkStop(syncPrograms, Order::OneServer, GetParam());
  checkStop(asyncPrograms, Order::OneServer, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Signals, StopTest, testing::Values(SIGINT, SIGUSR1));

TEST(Liveness, ASecondSignalEndsAServerAtOnce) {
  // Any two signals have this effect.
  for (const auto &[first, second] :
       {std::pair(SIGTERM, SIGTERM), {SIGINT, SIGTERM}, {SIGTERM, SIGINT}}) {
    TwoByTwo job;
    Process &server = job.startServer(0, {});
    job.startServer(1, {});
    job.startTrainer(0, {"--epochs", "1"});
    TwoByTwo::await(server, "listening");
    kill(server.child.id(), first);
    TwoByTwo::await(server, "a second signal ends it at once");
    kill(server.child.id(), second);
    EXPECT_EQ(server.wait(), -1) << server.said();
    EXPECT_EQ(server.child.endSignal(), second);
  }
}

// A trainer that waits for its data also learns of a stop, no matter which
// process got the signal.
TEST(Liveness, ATrainerThatWaitsForDataDoesNotPreventAStop) {
  for (const Programs &programs : {syncPrograms, asyncPrograms}) {
    TwoByTwo job(programs);
    const std::string pipe = job.place.file("pipe.tsv");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    for (int rank : {0, 1})
      job.startServer(rank, {});
    for (int rank : {0, 1})
      job.startTrainer(rank, {"--data", pipe, job.file, "--checkpoint",
                              job.saved(), "--checkpoint-steps", "2"});
    std::ofstream writer(pipe);
    writer << data(100) << std::flush;
    for (int i = 0; i < 6000 && !std::filesystem::exists(job.saved() +
                                                         "/step-000000000002");
         ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(job.trainers[1]->child.id(), SIGTERM);
    for (auto &process : job.trainers)
      EXPECT_EQ(process->wait(), 128 + SIGTERM) << process->said();
    for (auto &process : job.servers)
      EXPECT_EQ(process->wait(), 0) << process->said();
    EXPECT_GT(newestCheckpoint(job.saved()), 0);
    EXPECT_EQ(newestCheckpoint(job.saved()),
              std::max(stepsOf(*job.trainers[0]), stepsOf(*job.trainers[1])));
  }
}

// The result is the same if only one server gets the signal: the others report
// why they end.
TEST(Liveness, AStopBeforeAllTrainersAreThereEndsTheJob) {
  const std::string why = "told to stop before trainer 1 had joined";
  for (const std::vector<int> &told :
       std::vector<std::vector<int>>{{0, 1}, {0}, {1}}) {
    TwoByTwo job;
    for (int rank : {0, 1})
      job.startServer(rank, {});
    Process &trainer = job.startTrainer(0, {"--epochs", "1"});
    TwoByTwo::await(trainer, "trainer 1 to join");
    for (int rank : told)
      kill(job.servers[rank]->child.id(), SIGTERM);
    EXPECT_EQ(trainer.wait(), 128 + SIGTERM) << trainer.said();
    EXPECT_THAT(trainer.said(), HasSubstr(why));
    for (int rank : {0, 1}) {
      Process &server = *job.servers[rank];
      const bool wasNotified =
          std::find(told.begin(), told.end(), rank) != told.end();
      EXPECT_EQ(server.wait(), wasNotified ? 128 + SIGTERM : 3)
          << server.said();
      EXPECT_THAT(server.said(), HasSubstr(why));
    }
  }
}

// No matter which process gets the signal, the others learn of it while they
// wait for a server.
TEST(Liveness, AStopBeforeAllServersAreThereEndsTheJob) {
  TwoByTwo job;
  Process &server = job.startServer(0, {});
  for (int rank : {0, 1})
    job.startTrainer(rank, {"--epochs", "1", "--wait", "0"});
  for (auto &trainer : job.trainers)
    TwoByTwo::await(*trainer, "/b: not reached yet");
  kill(job.trainers[0]->child.id(), SIGTERM);
  EXPECT_EQ(job.trainers[0]->wait(), 128 + SIGTERM) << job.trainers[0]->said();
  EXPECT_EQ(job.trainers[1]->wait(), 3) << job.trainers[1]->said();
  EXPECT_THAT(job.trainers[1]->said(), HasSubstr("trainer 0 failed: stopped"));
  EXPECT_EQ(server.wait(), 3) << server.said();
}

//===----------------------------------------------------------------------===//
// Processes that die
//===----------------------------------------------------------------------===//

TEST(Liveness, ADeadTrainerOfThisHostIsKnownAtOnce) {
  TwoByTwo job;
  job.start({"--epochs", "1000000", "--silence-limit", "3600"}, patient);
  job.awaitTraining();
  kill(job.trainers[1]->child.id(), SIGKILL);
  EXPECT_EQ(job.trainers[0]->wait(), 3) << job.trainers[0]->said();
  EXPECT_THAT(job.trainers[0]->said(), HasSubstr("trainer 1 has died"));
  for (auto &server : job.servers)
    EXPECT_EQ(server->wait(), 3) << server->said();
}

// A container has its own process numbers.
TEST(Liveness, ADeadTrainerOfAnotherContainerIsKnownAtOnce) {
  if (std::system("unshare --pid --fork --kill-child --mount-proc true") != 0)
    GTEST_SKIP() << "this user may make no namespaces of processes";
  TwoByTwo job;
  job.startServer(0, patient);
  job.startServer(1, patient);
  const std::vector<std::string> flags = {"--epochs", "1000000",
                                          "--silence-limit", "3600"};
  job.startTrainer(0, flags);
  job.startTrainer(
      1, flags, {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"});
  job.awaitTraining();
  kill(job.trainers[1]->child.id(), SIGKILL);
  EXPECT_EQ(job.trainers[0]->wait(), 3) << job.trainers[0]->said();
  EXPECT_THAT(job.trainers[0]->said(),
              HasSubstr("trainer 1 has died: its process in another "
                        "container"));
}

// The state of a dead server is lost, so the job does not wait for it, under
// either policy and however early it dies.
TEST(Liveness, ADeadServerOfThisHostIsKnownAtOnce) {
  for (const std::string policy : {"abort", "wait"}) {
    TwoByTwo job;
    job.start({"--epochs", "1000000", "--on-failure", policy, "--silence-limit",
               "3600"},
              {"--on-failure", policy, "--silence-limit", "3600"});
    job.awaitTraining();
    kill(job.servers[1]->child.id(), SIGKILL);
    for (auto &trainer : job.trainers) {
      EXPECT_EQ(trainer->wait(), 3) << trainer->said();
      EXPECT_THAT(trainer->said(), HasSubstr("/b has died"));
    }
    EXPECT_EQ(job.servers[0]->wait(), 3) << job.servers[0]->said();
  }
}

// A stopped server is not dead, so one signal ends trainers that wait for it.
TEST(Liveness, OneSignalEndsWhoWaitsForASilentServer) {
  TwoByTwo job;
  job.start({"--epochs", "1000000", "--on-failure", "wait"},
            {"--on-failure", "wait"});
  job.awaitTraining();
  kill(job.servers[1]->child.id(), SIGSTOP);
  TwoByTwo::await(*job.trainers[0], "/b: not heard of for");
  for (auto &trainer : job.trainers)
    kill(trainer->child.id(), SIGINT);
  for (auto &trainer : job.trainers) {
    EXPECT_EQ(trainer->wait(), 128 + SIGINT) << trainer->said();
    EXPECT_THAT(trainer->said(),
                HasSubstr("stopped while a server was silent"));
  }
  kill(job.servers[1]->child.id(), SIGCONT);
}

//===----------------------------------------------------------------------===//
// Trainers that cannot take part
//===----------------------------------------------------------------------===//

TEST(Liveness, ATrainerThatFailsBeforeItsJoinLeavesNoneWaiting) {
  TwoByTwo job;
  const std::vector<std::string> flags = {"--epochs", "1", "--checkpoint",
                                          job.saved()};
  job.start(flags);
  for (auto &process : job.trainers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  for (auto &process : job.servers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  // There are checkpoints, but --resume was not given.
  job.start(flags);
  for (auto &process : job.trainers)
    EXPECT_EQ(process->wait(), 1) << process->said();
  for (auto &server : job.servers) {
    EXPECT_EQ(server->wait(), 1) << server->said();
    EXPECT_THAT(server->said(),
                AllOf(HasSubstr("failed: "), HasSubstr(job.saved())));
  }
}

// The trainer does not know yet with which step and seed the job resumes.
TEST(Liveness, ATrainerThatCannotResumeSaysWhy) {
  TwoByTwo job;
  const std::vector<std::string> flags = {"--checkpoint", job.saved(),
                                          "--epochs"};
  auto with = [&](const std::vector<std::string> &more) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  job.start(with({"1", "--seed", "4"}), {"--seed", "4"});
  for (auto &process : job.trainers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  for (auto &process : job.servers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  for (const std::string policy : {"abort", "wait"}) {
    for (int rank : {0, 1})
      job.startServer(rank, {"--checkpoint", job.saved(), "--resume",
                             "--on-failure", policy});
    job.startTrainer(0, with({"2", "--resume", "--on-failure", policy}));
    Process &wrong = job.startTrainer(
        1, with({"2", "--resume", "--on-failure", policy, "--seed", "5"}));
    EXPECT_EQ(wrong.wait(), 1) << wrong.said();
    const std::string said = wrong.said();
    const size_t error = said.find("error: ");
    ASSERT_NE(error, std::string::npos) << said;
    // The error is reported once.
    EXPECT_EQ(said.find("error: ", error + 1), std::string::npos) << said;
    const std::string message =
        said.substr(error + 7, said.find('\n', error) - error - 7);
    EXPECT_THAT(message, HasSubstr("was trained with --seed 4"));
    if (policy == "abort") {
      EXPECT_EQ(job.trainers[0]->wait(), 1);
      for (auto &server : job.servers) {
        EXPECT_EQ(server->wait(), 1);
        EXPECT_THAT(server->said(), HasSubstr("trainer 1 failed: " + message));
      }
      EXPECT_THAT(job.trainers[0]->said(),
                  HasSubstr("trainer 1 failed: " + message));
      continue;
    }
    // The other processes wait for a restart of the trainer.
    TwoByTwo::await(*job.trainers[0], "trainer 1 failed: " + message);
    job.startTrainer(1, with({"2", "--resume", "--on-failure", policy}));
    for (auto &process : job.trainers)
      EXPECT_EQ(process->wait(), 0) << process->said();
    for (auto &process : job.servers)
      EXPECT_EQ(process->wait(), 0) << process->said();
  }
}

// The trainer reports its error before it waits for servers that still load.
TEST(Liveness, ATrainerThatFailsSaysWhyBeforeItWaitsForServersThatLoad) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's own library must come before slow calls";
#endif
  TwoByTwo job;
  const std::vector<std::string> flags = {"--epochs", "1", "--checkpoint",
                                          job.saved()};
  job.start(flags);
  for (auto &process : job.trainers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  for (auto &process : job.servers)
    ASSERT_EQ(process->wait(), 0) << process->said();
  for (int rank : {0, 1})
    job.startServer(rank, {"--checkpoint", job.saved(), "--resume"},
                    {"LD_PRELOAD=" SLOW_CALLS, "PDL_SLOW_PREAD=6000"});
  // There are checkpoints, but --resume was not given.
  Process &wrong = job.startTrainer(0, flags);
  TwoByTwo::await(wrong, "error: ");
  EXPECT_EQ(waitpid(wrong.child.id(), nullptr, WNOHANG), 0) << wrong.said();
  EXPECT_EQ(wrong.wait(), 1);
  for (auto &server : job.servers) {
    EXPECT_EQ(server->wait(), 1);
    EXPECT_THAT(server->said(), AllOf(HasSubstr("trainer 0 failed: "),
                                      HasSubstr("give --resume")));
  }
}

TEST(Liveness, ARefusedTrainerLeavesNoneWaiting) {
  TwoByTwo job;
  for (int rank : {0, 1})
    job.startServer(rank, {"--seed", "4"});
  job.startTrainer(0, {"--epochs", "1", "--seed", "4"});
  Process &wrong = job.startTrainer(1, {"--epochs", "1", "--seed", "5"});
  EXPECT_EQ(wrong.wait(), 1);
  EXPECT_THAT(wrong.said(), HasSubstr("--seed"));
  EXPECT_EQ(job.trainers[0]->wait(), 1);
  EXPECT_THAT(job.trainers[0]->said(), HasSubstr("--seed"));
  for (auto &server : job.servers)
    EXPECT_EQ(server->wait(), 1) << server->said();
}

// The servers ended because they lost the trainer, so the trainer must not say
// that the servers were lost.
TEST(Liveness, ATrainerThatWasStoppedSaysSo) {
  TwoByTwo job;
  // On a loaded machine, the other trainer may be silent for seconds.
  job.start({"--epochs", "1000000"}, {"--silence-limit", "8"});
  job.awaitTraining();
  kill(job.trainers[1]->child.id(), SIGSTOP);
  for (auto &server : job.servers) {
    EXPECT_EQ(server->wait(), 3) << server->said();
    EXPECT_THAT(lastLineOf(*server),
                HasSubstr("trainer 1 was not heard of for"));
  }
  std::this_thread::sleep_for(std::chrono::seconds(3));
  kill(job.trainers[1]->child.id(), SIGCONT);
  EXPECT_EQ(job.trainers[1]->wait(), 3) << job.trainers[1]->said();
  EXPECT_THAT(lastLineOf(*job.trainers[1]),
              AllOf(HasSubstr("has ended: this process was stopped for "),
                    Not(HasSubstr("has died"))));
}

// The trainer reports wrong flags before it looks for other processes.
TEST(Liveness, ATrainerWithWrongFlagsNotifiesTheOthers) {
  using Words = std::vector<std::string>;
  const std::tuple<Words, std::string> cases[] = {
      {{"--replicas", "2x1"}, "a trainer with servers is one group"},
      {{"--no-such-flag"}, "--no-such-flag"},
      {{"--log-losses", ""}, "is the file of --data"}};
  for (const auto &[words, message] : cases) {
    TwoByTwo job;
    Words given = words;
    if (given.back().empty())
      given.back() = job.file;
    for (int rank : {0, 1})
      job.startServer(rank, {});
    job.startTrainer(0, {});
    Process &wrong = job.startTrainer(1, given);
    EXPECT_EQ(wrong.wait(), 2) << wrong.said();
    EXPECT_THAT(wrong.said(), HasSubstr(message));
    EXPECT_EQ(job.trainers[0]->wait(), 1);
    EXPECT_THAT(job.trainers[0]->said(),
                AllOf(HasSubstr("trainer 1 failed: "), HasSubstr(message)));
    for (auto &server : job.servers) {
      EXPECT_EQ(server->wait(), 1) << server->said();
      EXPECT_THAT(lastLineOf(*server), HasSubstr(message));
    }
  }
}

// Covers a server of another mode, and a trainer that may open too few files.
TEST(Liveness, ATrainerThatCannotTakePartLeavesNoneWaiting) {
  for (const std::string policy : {"abort", "wait"}) {
    const std::vector<std::string> flags = {"--on-failure", policy};
    TwoByTwo job;
    job.startServer(0, flags);
    job.programs = asyncPrograms;
    job.startServer(1, flags);
    job.programs = syncPrograms;
    for (int rank : {0, 1})
      job.startTrainer(rank, flags);
    for (auto &trainer : job.trainers)
      EXPECT_EQ(trainer->wait(), 1) << trainer->said();
    for (auto &server : job.servers) {
      EXPECT_EQ(server->wait(), 1) << server->said();
      EXPECT_THAT(server->said(), HasSubstr("in mode sync, the server async"));
    }
  }
  TwoByTwo job;
  for (int rank : {0, 1})
    job.startServer(rank, {});
  job.startTrainer(0, {}, {"sh", "-c", "ulimit -n 24; exec \"$@\"", "sh"});
  job.startTrainer(1, {});
  const std::string message =
      "this process may have 24 files and connections open, and needs 32";
  for (auto &trainer : job.trainers) {
    EXPECT_EQ(trainer->wait(), 3);
    EXPECT_THAT(trainer->said(), HasSubstr(message));
  }
  for (auto &server : job.servers) {
    EXPECT_EQ(server->wait(), 3);
    EXPECT_THAT(server->said(), HasSubstr("trainer 0 failed: " + message));
  }
}

TEST(Liveness, AnAsyncTrainerThatDiesRejoinsUnderWait) {
  const std::vector<std::string> wait = {"--on-failure", "wait"};
  const std::vector<std::string> flags = {"--on-failure", "wait", "--epochs",
                                          "1000000"};
  TwoByTwo job(asyncPrograms);
  job.start(flags, wait);
  job.awaitTraining();
  kill(job.trainers[0]->child.id(), SIGKILL);
  job.trainers[0]->wait();
  Process &again = job.startTrainer(0, flags);
  TwoByTwo::await(again, "came back to the job");
  for (auto &server : job.servers)
    kill(server->child.id(), SIGTERM);
  for (auto &trainer : job.trainers)
    EXPECT_EQ(trainer->wait(), 128 + SIGTERM) << trainer->said();
  for (auto &server : job.servers)
    EXPECT_EQ(server->wait(), 128 + SIGTERM) << server->said();
}

// Otherwise some processes would wait for a trainer that others have given up.
TEST(Liveness, AnotherPolicyForFailuresIsRefused) {
  const std::string one = "has --on-failure ", remedy = "the same --on-failure";
  const std::vector<std::string> wait = {"--on-failure", "wait"};
  const std::vector<std::string> both[] = {{}, wait};
  // All trainers differ from all servers, or one server differs.
  for (const auto &[trainers, second] :
       {std::pair(false, true), {true, false}, {false, false}}) {
    const bool first = second || !trainers;
    TwoByTwo job;
    job.startServer(0, both[first]);
    job.startServer(1, both[second]);
    for (int rank : {0, 1})
      job.startTrainer(rank, both[trainers]);
    for (auto &process : job.trainers) {
      EXPECT_EQ(process->wait(), 1) << process->said();
      EXPECT_EQ(process->said().find("epoch 1"), std::string::npos);
      EXPECT_THAT(process->said(),
                  AllOf(HasSubstr(one + (trainers ? "wait, the server abort"
                                                  : "abort, the server wait")),
                        HasSubstr(remedy)));
    }
    for (auto &process : job.servers) {
      EXPECT_EQ(process->wait(), 1) << process->said();
      EXPECT_THAT(process->said(), HasSubstr(remedy));
    }
  }
  // One trainer differs: the others wait for its restart, and learn why.
  TwoByTwo job;
  for (int rank : {0, 1})
    job.startServer(rank, wait);
  Process &wrong = job.startTrainer(0, {});
  job.startTrainer(1, wait);
  EXPECT_EQ(wrong.wait(), 1) << wrong.said();
  TwoByTwo::await(*job.trainers[1], "trainer 0 was refused: the trainer has "
                                    "--on-failure abort, the server wait");
  job.startTrainer(0, wait);
  for (auto &process : job.trainers)
    EXPECT_EQ(process->wait(), 0) << process->said();
  for (auto &process : job.servers)
    EXPECT_EQ(process->wait(), 0) << process->said();
}

TEST(Liveness, ALogThatCannotBeMadeIsRefusedWithTheFlags) {
  TwoByTwo job(asyncPrograms);
  const std::string log = job.place.write("old.log", "a log");
  for (const auto &[path, message] :
       {std::pair(log, "is there already"),
        {job.place.file("none/new.log"), "cannot be created"}}) {
    Process &server = job.startServer(0, {"--log-applied", path});
    EXPECT_EQ(server.wait(), 1) << server.said();
    EXPECT_THAT(server.said(),
                AllOf(HasSubstr("--log-applied: " + path), HasSubstr(message),
                      Not(HasSubstr("listening"))));
  }
  EXPECT_EQ(job.place.read("old.log"), "a log");
  TwoByTwo sync;
  Process &server = sync.startServer(0, {"--log-applied", log + "2"});
  EXPECT_EQ(server.wait(), 2) << server.said();
  EXPECT_THAT(server.said(), HasSubstr("in mode sync the order is always"));
}

TEST(Liveness, AServerWithoutTrainersGoesAfterItsTime) {
  TwoByTwo job;
  Process &server = job.startServer(0, {"--wait", "2"});
  EXPECT_EQ(server.wait(), 3);
  EXPECT_THAT(server.said(), HasSubstr("trainer 0 did not join for 2 s"));
}
