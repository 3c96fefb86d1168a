//===- ServeConnectedTest.cpp - Versions of pdl-serve that read servers ---===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConnectedLibrary.h"
#include "Repository.h"
#include "ServedFolder.h"
#include "ServingMetrics.h"
#include "Support/TestFolder.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>

using namespace pdlrt;
using namespace pdlserve;
namespace fs = std::filesystem;

namespace {

// A file that returns during its refresh does not start another one.
TEST(ServeConnected, AFileThatReturnsStartsNoSecondRefresh) {
  ConnectedState state;
  ::setenv(connectedStateVariable,
           fmt::format("{:x}", reinterpret_cast<uintptr_t>(&state)).c_str(), 1);
  TestFolder folder;
  fs::create_directories(folder.file("m/1"));
  folder.write("m/1/library.so", seal(PDL_TEST_CONNECTED_LIBRARY));
  folder.write("m/1/servers.json",
               R"({"servers": ["127.0.0.1:1"], "refresh_ms": 1})");
  const std::string file = folder.file("m/1/servers.json"),
                    away = folder.file("m/1/.away");
  {
    ServingMetrics metrics;
    Repository repository(folder.file(""), {}, {}, metrics);
    lookUntilReady(repository);
    const auto lookUntil = [&](const std::function<bool()> &holds) {
      for (int i = 0; i < 10000 && !holds(); ++i) {
        repository.look();
        repository.waitForChange(std::chrono::milliseconds(10));
      }
      EXPECT_TRUE(holds());
    };
    for (int round = 1; round <= 3; ++round) {
      state.isHeld = true;
      lookUntil([&] { return state.running == 1; });
      const int before = state.refreshes;
      for (int i = 0; i < 5; ++i) {
        fs::rename(file, away);
        repository.look();
        fs::rename(away, file);
        for (int look = 0; look < 3; ++look) {
          repository.look();
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
      }
      EXPECT_EQ(state.running, 1);
      EXPECT_EQ(state.refreshes, before);
      state.isHeld = false;
      // The library works as before.
      lookUntil([&] { return state.refreshes > before; });
    }
    EXPECT_EQ(state.connects, 1);
    std::string why;
    lookUntil([&] { return repository.isReady(why); });
    for (const Repository::Entry &entry : repository.entries())
      EXPECT_EQ(entry.reason, "");
  }
  ::unsetenv(connectedStateVariable);
}

} // namespace
