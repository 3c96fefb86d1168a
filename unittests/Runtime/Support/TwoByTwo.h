//===- TwoByTwo.h - Two servers and two trainer processes -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_TWOBYTWO_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_TWOBYTWO_H

#define HAND_WRITTEN_TRAINER HAND_WRITTEN_REMOTE
#include "OwnProcess.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Programs {
  std::string server, trainer;
};
inline const Programs syncPrograms = {HAND_WRITTEN_SERVER, HAND_WRITTEN_REMOTE};
inline const Programs asyncPrograms = {HAND_WRITTEN_ASYNC_SERVER,
                                       HAND_WRITTEN_ASYNC_REMOTE};

/// Two servers and two trainers.
class TwoByTwo {
public:
  explicit TwoByTwo(Programs given = syncPrograms)
      : programs(std::move(given)) {
    addresses = "unix:" + place.file("a") + ",unix:" + place.file("b");
    file = place.write("data.tsv", data(300));
  }
  /// Starts a server with environment settings such as LD_PRELOAD=FILE.
  Process &startServer(int rank, std::vector<std::string> flags,
                       const std::vector<std::string> &settings = {}) {
    std::vector<std::string> words = settings;
    words.insert(words.end(), {programs.server, "--rank", std::to_string(rank),
                               "--servers", addresses, "--trainers", "2"});
    words.insert(words.end(), flags.begin(), flags.end());
    servers[rank] = std::make_unique<Process>("/usr/bin/env", words);
    return *servers[rank];
  }
  Process &startTrainer(int rank, const std::vector<std::string> &flags,
                        const std::vector<std::string> &settings = {}) {
    trainers[rank] = makeTrainer(rank, flags, settings);
    return *trainers[rank];
  }
  /// Starts another trainer; `flags` replace default flags.
  std::unique_ptr<Process>
  makeTrainer(int rank, const std::vector<std::string> &flags,
              const std::vector<std::string> &settings = {}) {
    std::vector<std::string> words = settings;
    words.insert(words.end(), {programs.trainer, "train", "--rank",
                               std::to_string(rank), "--trainers", "2"});
    for (const auto &[flag, value] :
         {std::pair<std::string, std::string>{"--data", file},
          {"--servers", addresses},
          {"--batch-size", "16"}})
      if (std::find(flags.begin(), flags.end(), flag) == flags.end())
        words.insert(words.end(), {flag, value});
    words.insert(words.end(), flags.begin(), flags.end());
    return std::make_unique<Process>("/usr/bin/env", words);
  }
  void start(const std::vector<std::string> &trainerFlags,
             const std::vector<std::string> &serverFlags = {}) {
    for (int rank : {0, 1})
      startServer(rank, serverFlags);
    for (int rank : {0, 1})
      startTrainer(rank, trainerFlags);
  }
  /// Waits until a process has printed a text, for at most a minute.
  static void await(const Process &process, const std::string &what) {
    for (int i = 0; i < 6000 && process.said().find(what) == std::string::npos;
         ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_THAT(process.said(), testing::HasSubstr(what));
  }
  void awaitTraining() {
    for (auto &trainer : trainers)
      await(*trainer, "epoch 2");
  }
  std::string saved() const { return place.file("saved"); }

  TestFolder place;
  Programs programs;
  std::string addresses, file;
  std::unique_ptr<Process> servers[2], trainers[2];
};

/// Returns the number of steps that a trainer reports in a line such as
/// "trained 17 steps".
inline int64_t stepsOf(const Process &trainer) {
  const std::string said = trainer.said();
  const size_t at = said.find("trained ");
  return at == std::string::npos ? -1 : std::stoll(said.substr(at + 8));
}

/// Returns the steps of the newest checkpoint.
inline int64_t newestCheckpoint(const std::string &folder) {
  int64_t newest = -1;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.compare(0, 5, "step-") == 0 &&
        std::filesystem::exists(entry.path() / "manifest.json"))
      newest = std::max<int64_t>(newest, std::stoll(name.substr(5)));
  }
  return newest;
}

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_TWOBYTWO_H
