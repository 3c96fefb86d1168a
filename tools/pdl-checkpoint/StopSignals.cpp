//===- StopSignals.cpp - Removes unfinished output after signals ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StopSignals.h"

#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Files/Store.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

/// True if a signal was received, and this process will end.
static std::atomic<bool> isStopping{false};

static void removeUnfinished(const fs::path &output) {
  const std::string begin =
      output.filename().string() + ".tmp." + std::to_string(getpid());
  const fs::path parent = output.parent_path();
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(parent.empty() ? "." : parent, ignored)) {
    const std::string name = entry.path().filename();
    // Excludes processes whose id only begins with the same digits.
    if (name == begin || name.starts_with(begin + "-"))
      found.push_back(entry.path());
  }
  for (const fs::path &path : found)
    fs::remove_all(path, ignored);
}

/// Returns what the output of a stopped command is.
static std::string outcomeOf(const std::string &path, bool isFolder) {
  if (!pdlrt::isInObjectStore(path))
    return "what was not finished is removed";
  return isFolder ? "remove what was not finished at " + path
                  : "no unfinished file is at " + path;
}

void removeUnfinishedAtSignal(const std::string &output, bool isFolder) {
  std::string path = output;
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  // New threads inherit the signal mask.
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals, path, isFolder] {
    int number = 0;
    if (::sigwait(&signals, &number) != 0)
      return;
    isStopping = true;
    removeUnfinished(path);
    pdlrt::writeError(std::string("error: stopped by SIG") +
                      ::sigabbrev_np(number) + "; " +
                      outcomeOf(path, isFolder) + "\n");
    // Removes files that another thread has created meanwhile.
    removeUnfinished(path);
    std::_Exit(128 + number);
  }).detach();
}

void awaitEndBySignal() {
  while (isStopping)
    ::pause();
}
