//===- ServerProgramTest.cpp - Servers as a user starts them --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define HAND_WRITTEN_TRAINER HAND_WRITTEN_LOCAL
#include "TrainerProcess.h"

#include <csignal>
#include <gmock/gmock.h>
#include <memory>

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A process with a folder of its own.
struct Process {
  Process(const std::string &program, std::vector<std::string> arguments)
      : child(folder, std::move(arguments), program) {}
  TestFolder folder;
  TrainerProcess child;
};

int runServer(std::vector<std::string> arguments, std::string &errors) {
  Process server(HAND_WRITTEN_SERVER, std::move(arguments));
  const int status = server.child.wait();
  errors = server.child.errors() + server.child.output();
  return status;
}

/// Rows of label, weight, three numbers, and two bags of ids.
std::string data(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i % 3 == 0) + "\t1\t" + std::to_string(i % 7) +
            "\t0." + std::to_string(i % 10) + "\t-1\ta" +
            std::to_string(i % 11) + "|b\tc" + std::to_string(i % 5) + "\n";
  return text;
}

} // namespace

TEST(ServerProgram, FlagsAreChecked) {
  std::string errors;
  EXPECT_EQ(runServer({"--help"}, errors), 0);
  EXPECT_THAT(errors, AllOf(HasSubstr("--token-file"), HasSubstr("Example")));
  EXPECT_EQ(runServer({"--version"}, errors), 0);
  EXPECT_THAT(errors, AllOf(HasSubstr("pserver, mode sync"),
                            HasSubstr("fedcba9876543210")));
  EXPECT_EQ(runServer({"--rank", "0"}, errors), 2);
  EXPECT_THAT(errors, HasSubstr("--servers"));
  EXPECT_EQ(runServer({"--rank", "2", "--servers", "unix:a,unix:b"}, errors),
            2);
  EXPECT_THAT(errors, HasSubstr("--rank 2 is none of the 2 servers"));
  EXPECT_EQ(runServer({"--rank", "0", "--servers", "unix:a,unix:a"}, errors),
            2);
  EXPECT_THAT(errors, HasSubstr("names unix:a twice"));
  EXPECT_EQ(runServer({"--rank", "0", "--servers", "10.1.2.3:7101"}, errors),
            2);
  EXPECT_THAT(errors, HasSubstr("say --bind 10.1.2.3:7101"));
  EXPECT_EQ(
      runServer({"--rank", "0", "--servers", "unix:a", "--placement", "best"},
                errors),
      2);
  EXPECT_THAT(errors, HasSubstr("round-robin, hash-name or least-loaded"));
  EXPECT_EQ(
      runServer({"--rank", "0", "--servers", "unix:/no/such/folder/a"}, errors),
      1);
  EXPECT_THAT(errors, HasSubstr("error: server 0: cannot listen"));
}

TEST(ServerProgram, ASignalEndsIt) {
  TestFolder place;
  Process server(HAND_WRITTEN_SERVER,
                 {"--rank", "0", "--servers", "unix:" + place.file("s")});
  for (int i = 0;
       i < 3000 && server.child.errors().find("listening") == std::string::npos;
       ++i)
    usleep(10000);
  kill(server.child.id(), SIGTERM);
  EXPECT_EQ(server.child.wait(), 128 + SIGTERM);
}

TEST(ServerProgram, AJobOfRealProcessesIsOneProcess) {
  TestFolder place;
  const std::string file = place.write("data.tsv", data(300));
  const std::vector<std::string> train = {
      "train", "--data", file, "--batch-size", "16", "--epochs",
      "3",     "--seed", "4"};
  auto with = [](std::vector<std::string> list,
                 const std::vector<std::string> &more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  Process local(
      HAND_WRITTEN_LOCAL,
      with(train, {"--replicas", "2x1", "--log-losses", place.file("local")}));
  ASSERT_EQ(local.child.wait(), 0) << local.child.errors();

  const std::string servers =
      "unix:" + place.file("a") + ",unix:" + place.file("b");
  std::vector<std::unique_ptr<Process>> all;
  for (const char *rank : {"0", "1"})
    all.push_back(std::make_unique<Process>(
        HAND_WRITTEN_SERVER,
        std::vector<std::string>{"--rank", rank, "--servers", servers,
                                 "--trainers", "2", "--seed", "4"}));
  for (const char *rank : {"0", "1"})
    all.push_back(std::make_unique<Process>(
        HAND_WRITTEN_REMOTE,
        with(train, {"--rank", rank, "--trainers", "2", "--servers", servers,
                     "--log-losses", place.file(rank)})));
  for (auto &process : all)
    EXPECT_EQ(process->child.wait(), 0) << process->child.errors();
  // A server goes after its answers: nobody waits for one in vain.
  for (auto &process : all)
    EXPECT_THAT(process->child.errors(), Not(HasSubstr("did not answer")));
  EXPECT_THAT(all[0]->child.errors(),
              HasSubstr("all trainers have left, the job is done"));
  EXPECT_EQ(place.read("0"), place.read("local"));
  EXPECT_EQ(place.read("1"), place.read("local"));
  EXPECT_FALSE(place.read("local").empty());
}
