//===- ProcessIdentity.cpp - Which process somebody is --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProcessIdentity.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

using namespace pdlrt;

/// 0 where the system does not say.
static uint64_t readHost() {
  std::string boot;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  struct stat space = {};
  if (!std::getline(file, boot) || stat("/proc/self/ns/pid", &space) != 0)
    return 0;
  const std::string both = boot + " " + std::to_string(space.st_ino);
  return XXH64(both.data(), both.size(), 0) | 1;
}

static uint64_t thisHost() {
  static const uint64_t host = readHost();
  return host;
}

/// Host 0: it has ended, and is not collected yet; nothing: it is not shown.
static std::optional<ProcessIdentity> readProcess(uint32_t number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  // The name, in brackets, may hold anything; the state follows, and the start
  // is the 20th field from there on.
  const size_t bracket = line.rfind(')');
  if (bracket == std::string::npos)
    return std::nullopt;
  std::istringstream fields(line.substr(bracket + 1));
  std::string field, state;
  fields >> state;
  // One that is dead and not collected yet has ended.
  if (state == "Z" || state == "X")
    return ProcessIdentity();
  ProcessIdentity identity;
  constexpr int fieldsBeforeStart = 18;
  for (int i = 0; i < fieldsBeforeStart; ++i)
    fields >> field;
  if (!(fields >> identity.started))
    return std::nullopt;
  identity.number = number;
  identity.host = thisHost();
  return identity;
}

ProcessIdentity ProcessIdentity::ofProcess(uint32_t number) {
  return readProcess(number).value_or(ProcessIdentity());
}

const ProcessIdentity &ProcessIdentity::ofThisProcess() {
  static const ProcessIdentity own =
      ofProcess(static_cast<uint32_t>(::getpid()));
  return own;
}

bool ProcessIdentity::isOfThisHost() const {
  return host != 0 && host == thisHost();
}

bool ProcessIdentity::hasEnded() const {
  // Signals to other numbers are for groups. Who asks runs.
  if (!isOfThisHost() || number == 0 || number > INT_MAX ||
      *this == ofThisProcess())
    return false;
  if (const auto found = readProcess(number))
    return *found != *this;
  // A signal of number 0 is none: it asks whether there is such a process.
  return ::kill(pid_t(number), 0) != 0 && errno == ESRCH;
}
