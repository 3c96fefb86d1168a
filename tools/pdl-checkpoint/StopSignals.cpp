//===- StopSignals.cpp - An end before all is written ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StopSignals.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

static void removeUnfinished(const fs::path &output) {
  const std::string begin =
      output.filename().string() + ".tmp." + std::to_string(getpid());
  const fs::path parent = output.parent_path();
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(parent.empty() ? "." : parent, ignored)) {
    const std::string name = entry.path().filename();
    // Not those of a process whose number only begins alike.
    if (name == begin || name.starts_with(begin + "-"))
      found.push_back(entry.path());
  }
  for (const fs::path &path : found)
    fs::remove_all(path, ignored);
}

void removeUnfinishedAtSignal(const std::string &output) {
  std::string path = output;
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  // Other threads take this over from the one that starts them.
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, path] {
    int number = 0;
    if (::sigwait(&signals, &number) != 0)
      return;
    removeUnfinished(path);
    std::fprintf(stderr,
                 "error: stopped by SIG%s; what was not finished is removed\n",
                 ::sigabbrev_np(number));
    // What another thread has made meanwhile.
    removeUnfinished(path);
    std::_Exit(128 + number);
  }).detach();
}
