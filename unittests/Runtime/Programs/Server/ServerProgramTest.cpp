//===- ServerProgramTest.cpp - Servers as a user starts them --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define HAND_WRITTEN_TRAINER HAND_WRITTEN_LOCAL
#include "Support/OwnProcess.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <random>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

int runServer(std::vector<std::string> arguments, std::string &errors) {
  Process server(HAND_WRITTEN_SERVER, std::move(arguments));
  const int status = server.wait();
  errors = server.child.errors() + server.child.output();
  return status;
}

/// Returns the files below a folder by name. The creation time in the manifest
/// is replaced.
std::map<std::string, std::string> filesIn(const std::string &folder) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  for (const auto &entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path();
    if (entry.path().extension() != ".safetensors")
      continue;
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    files[fs::relative(path, folder)] = text.str();
  }
  return files;
}

/// A job whose servers wait for lost trainers.
class WaitingJob {
public:
  WaitingJob(const std::string &file, std::vector<std::string> flags)
      : trainerFlags(std::move(flags)) {
    servers = "unix:" + place.file("a") + ",unix:" + place.file("b");
    trainerFlags.insert(trainerFlags.begin(),
                        {"train", "--data", file, "--batch-size", "16",
                         "--seed", "4", "--trainers", "2", "--servers", servers,
                         "--on-failure", "wait", "--checkpoint",
                         place.file("saved"), "--evaluate-data", file});
    for (const char *rank : {"0", "1"})
      serverProcesses.push_back(std::make_unique<Process>(
          HAND_WRITTEN_SERVER,
          std::vector<std::string>{"--rank", rank, "--servers", servers,
                                   "--trainers", "2", "--seed", "4",
                                   "--on-failure", "wait"}));
    for (int rank : {0, 1})
      startTrainer(rank);
  }
  void startTrainer(int rank) {
    std::vector<std::string> flags = trainerFlags;
    flags.insert(flags.end(), {"--rank", std::to_string(rank)});
    trainers[rank] = std::make_unique<Process>(HAND_WRITTEN_REMOTE, flags);
  }
  /// Kills the trainer and restarts it. Returns false, and leaves it alone, if
  /// it has printed `tooLate` or has ended. A trainer that dies while it leaves
  /// may find that the servers have ended (docs/Protocol.md).
  bool killAndRestart(int rank, const std::string &tooLate) {
    if (said(rank).find(tooLate) != std::string::npos)
      return false;
    kill(trainers[rank]->child.id(), SIGKILL);
    isDone[rank] = trainers[rank]->wait() == 0;
    if (!isDone[rank])
      startTrainer(rank);
    return !isDone[rank];
  }
  /// Waits for all processes, which must succeed.
  void finish() {
    for (int rank : {0, 1})
      if (!isDone[rank])
        EXPECT_EQ(trainers[rank]->wait(), 0) << trainers[rank]->child.errors();
    for (auto &server : serverProcesses)
      EXPECT_EQ(server->wait(), 0) << server->child.errors();
  }
  std::string said(int rank) const { return trainers[rank]->child.errors(); }
  /// Returns the losses and metrics that a trainer printed.
  std::string figures(int rank) const {
    std::istringstream lines(trainers[rank]->child.output());
    std::string text;
    for (std::string line; std::getline(lines, line);)
      if (line.compare(0, 6, "train ") == 0 || line.compare(0, 5, "test ") == 0)
        text += line + "\n";
    return text;
  }
  std::map<std::string, std::string> saved() const {
    auto files = filesIn(place.file("saved"));
    // Servers may have written files for a killed owner after the next one
    // cleaned up. The next open of the folder cleans up again.
    std::erase_if(files, [](const auto &file) {
      return file.first.find(".tmp.") != std::string::npos;
    });
    return files;
  }

private:
  TestFolder place;
  std::string servers;
  std::vector<std::string> trainerFlags;
  std::vector<std::unique_ptr<Process>> serverProcesses;
  std::unique_ptr<Process> trainers[2];
  bool isDone[2] = {false, false};
};

} // namespace

TEST(ServerProgram, FlagsAreChecked) {
  std::string errors;
  EXPECT_EQ(runServer({"--help"}, errors), 0);
  EXPECT_THAT(errors, AllOf(HasSubstr("--token-file"), HasSubstr("Example")));
  EXPECT_EQ(runServer({"--version"}, errors), 0);
  EXPECT_THAT(errors, AllOf(HasSubstr("pserver, mode sync"),
                            HasSubstr("fedcba9876543210")));
  EXPECT_EQ(runServer({"--list-metrics"}, errors), 0);
  EXPECT_THAT(errors,
              HasSubstr("pdl_server_steps_total\tcounter\tsteps\towner\t"));
  EXPECT_THAT(errors, Not(HasSubstr("pdl_trainer_steps_total")));
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

TEST(ServerProgram, TooFewFilesAreSaidBeforeGrpcEndsIt) {
  TestFolder place;
  Process server("/bin/sh",
                 {"-c", "ulimit -n 20; exec \"$@\"", "sh", HAND_WRITTEN_SERVER,
                  "--rank", "0", "--servers", "unix:" + place.file("s")});
  // A restart with a higher limit succeeds (docs/Reference/ExitCodes.md).
  EXPECT_EQ(server.wait(), 3);
  EXPECT_THAT(server.child.errors(),
              HasSubstr("this process may have 20 files and connections open, "
                        "and needs 32; raise the limit with 'ulimit -n'"));
}

namespace {

/// Returns a free port of the loopback interface.
int freePort() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  EXPECT_EQ(::bind(probe, reinterpret_cast<sockaddr *>(&name), size), 0);
  EXPECT_EQ(::getsockname(probe, reinterpret_cast<sockaddr *>(&name), &size),
            0);
  ::close(probe);
  return ntohs(name.sin_port);
}

/// Connections that send nothing; an empty path selects the port.
class SilentConnections {
public:
  SilentConnections(int count, const std::string &path, int port) {
    sockaddr_un local = {};
    local.sun_family = AF_UNIX;
    path.copy(local.sun_path, sizeof(local.sun_path) - 1);
    sockaddr_in network = {};
    network.sin_family = AF_INET;
    network.sin_port = htons(uint16_t(port));
    network.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; ++i) {
      sockets.push_back(::socket(path.empty() ? AF_INET : AF_UNIX,
                                 SOCK_STREAM | SOCK_NONBLOCK, 0));
      if (path.empty())
        (void)::connect(sockets.back(),
                        reinterpret_cast<const sockaddr *>(&network),
                        sizeof(network));
      else
        (void)::connect(sockets.back(),
                        reinterpret_cast<const sockaddr *>(&local),
                        sizeof(local));
    }
  }
  ~SilentConnections() {
    for (const int socket : sockets)
      ::close(socket);
  }
  SilentConnections(const SilentConnections &) = delete;
  SilentConnections &operator=(const SilentConnections &) = delete;

private:
  std::vector<int> sockets;
};

/// Returns the name of the newest checkpoint; empty if there is none.
std::string newestIn(const std::string &folder) {
  std::string newest;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("step-") && name.find('.') == std::string::npos)
      newest = std::max(newest, name);
  }
  return newest;
}

} // namespace

// Meanwhile the server saves, and responds to processes that connect later.
TEST(ServerProgram, ManyConnectionsMakeNoServerDeaf) {
  for (const bool isLocal : {false, true}) {
    TestFolder place;
    const std::string file = place.write("data.tsv", data(300));
    const std::string path = isLocal ? place.file("s") : "";
    const int port = isLocal ? 0 : freePort();
    const std::string address =
        isLocal ? "unix:" + path : "127.0.0.1:" + std::to_string(port);
    const std::string saved = place.file("saved");
    Process server("/bin/sh",
                   {"-c", "ulimit -n 128; exec \"$@\"", "sh",
                    HAND_WRITTEN_SERVER, "--rank", "0", "--servers", address});
    const std::vector<std::string> flags = {"train",   "--data",
                                            file,      "--batch-size",
                                            "16",      "--servers",
                                            address,   "--epochs",
                                            "1000000", "--checkpoint",
                                            saved,     "--checkpoint-steps",
                                            "50",      "--checkpoint-keep",
                                            "2"};
    Process trainer(HAND_WRITTEN_REMOTE, flags);
    const auto await = [](const std::function<bool()> &holds) {
      for (int i = 0; i < 6000 && !holds(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_TRUE(holds());
    };
    await([&] { return !newestIn(saved).empty(); });
    {
      const SilentConnections many(200, path, port);
      await([&] {
        return server.child.errors().find("takes no more connections") !=
               std::string::npos;
      });
      for (int saves = 0; saves < 2; ++saves) {
        const std::string before = newestIn(saved);
        await([&] { return newestIn(saved) != before; });
      }
    }
    Process stranger(HAND_WRITTEN_REMOTE, {"train", "--data", file, "--servers",
                                           address, "--job", "other"});
    EXPECT_EQ(stranger.wait(), 1);
    EXPECT_THAT(stranger.child.errors(), HasSubstr("is of job 'other'"));
    kill(trainer.child.id(), SIGTERM);
    EXPECT_EQ(trainer.wait(), 128 + SIGTERM) << trainer.child.errors();
    EXPECT_EQ(server.wait(), 0) << server.child.errors();
  }
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
  EXPECT_EQ(server.wait(), 128 + SIGTERM);
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
  ASSERT_EQ(local.wait(), 0) << local.child.errors();

  const std::string servers =
      "unix:" + place.file("a") + ",unix:" + place.file("b");
  std::vector<std::unique_ptr<Process>> all;
  for (const char *rank : {"0", "1"})
    all.push_back(std::make_unique<Process>(
        HAND_WRITTEN_SERVER,
        std::vector<std::string>{"--rank", rank, "--servers", servers,
                                 "--trainers", "2", "--seed", "4", "--trace",
                                 place.file(std::string("trace-") + rank)}));
  for (const char *rank : {"0", "1"})
    all.push_back(std::make_unique<Process>(
        HAND_WRITTEN_REMOTE,
        with(train, {"--rank", rank, "--trainers", "2", "--servers", servers,
                     "--log-losses", place.file(rank)})));
  for (auto &process : all)
    EXPECT_EQ(process->wait(), 0) << process->child.errors();
  // A server ends after its responses are sent, so no process waits for one in
  // vain.
  for (auto &process : all)
    EXPECT_THAT(process->child.errors(), Not(HasSubstr("did not respond")));
  EXPECT_THAT(all[0]->child.errors(),
              HasSubstr("all trainers have left, the job is done"));
  EXPECT_EQ(place.read("0"), place.read("local"));
  EXPECT_EQ(place.read("1"), place.read("local"));
  EXPECT_FALSE(place.read("local").empty());
  // Servers have written their traces, with distinct process numbers.
  for (const auto &[file, name] :
       {std::pair("trace-0", "\"pid\":2"), std::pair("trace-1", "\"pid\":3")})
    EXPECT_THAT(place.read(file),
                AllOf(HasSubstr(name), HasSubstr("\"name\":\"application\""),
                      HasSubstr("\"name\":\"load\""),
                      HasSubstr("\"name\":\"check\""),
                      HasSubstr("\"name\":\"push\""),
                      HasSubstr("\"name\":\"find keys\""),
                      HasSubstr("\"name\":\"apply\""),
                      HasSubstr("\"name\":\"respond\"")));
}

// Otherwise each server would train its part of a different model.
TEST(ServerProgram, ServersThatBeginWithDifferentValuesAreRefused) {
  TestFolder place;
  const std::string file = place.write("data.tsv", data(60));
  for (const char *seed : {"1", "2"}) {
    Process first(HAND_WRITTEN_LOCAL, {"train", "--data", file, "--seed", seed,
                                       "--dump", place.file(seed)});
    ASSERT_EQ(first.wait(), 0) << first.child.errors();
  }
  using Words = std::vector<std::string>;
  for (const auto &[more, found] :
       {std::pair(Words{}, "server 1 initial values"),
        std::pair(Words{"--init-from", place.file("2")},
                  "server 1 an --init-from file of ")}) {
    const std::string servers =
        "unix:" + place.file("a") + ",unix:" + place.file("b");
    std::vector<std::unique_ptr<Process>> all;
    const Words flags[] = {{"--init-from", place.file("1")}, more};
    for (const int rank : {0, 1}) {
      Words words = {
          "--rank", std::to_string(rank), "--servers", servers, "--seed", "4"};
      words.insert(words.end(), flags[rank].begin(), flags[rank].end());
      all.push_back(std::make_unique<Process>(HAND_WRITTEN_SERVER, words));
    }
    Process trainer(HAND_WRITTEN_REMOTE, {"train", "--data", file, "--servers",
                                          servers, "--seed", "4"});
    EXPECT_EQ(trainer.wait(), 1) << trainer.child.errors();
    EXPECT_THAT(trainer.child.errors(),
                AllOf(HasSubstr("servers were started with different values"),
                      HasSubstr("server 0 has an --init-from file of "),
                      HasSubstr(found)));
    for (auto &server : all)
      EXPECT_EQ(server->wait(), 1) << server->child.errors();
  }
}

// With a clip, a step has two requests. State, losses and metrics equal those
// of a job in which no process died.
TEST(ServerProgram, AKilledTrainerRejoins) {
  TestFolder place;
  const std::string file = place.write("data.tsv", data(3000));
  const std::vector<std::string> flags = {"--epochs", "4", "--checkpoint-steps",
                                          "50"};
  WaitingJob undisturbed(file, flags);
  undisturbed.finish();
  const auto expected = undisturbed.saved();
  ASSERT_GE(expected.size(), 4u);
  ASSERT_THAT(undisturbed.figures(0), HasSubstr("test AUC"));
  int comebacks = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    WaitingJob job(file, flags);
    const int victim = int(seed % 2);
    for (int i = 0;
         i < 12000 && job.said(victim).find("epoch 1") == std::string::npos;
         ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int kills = 0; kills < 2; ++kills) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
      if (!job.killAndRestart(victim, "epoch 3"))
        break;
    }
    job.finish();
    EXPECT_EQ(job.saved(), expected);
    for (int rank : {0, 1})
      EXPECT_EQ(job.figures(rank), undisturbed.figures(rank));
    comebacks += job.said(victim).find("came back") != std::string::npos;
  }
  EXPECT_GT(comebacks, 0);
}
