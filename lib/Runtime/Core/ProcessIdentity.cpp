//===- ProcessIdentity.cpp - Which process somebody is --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProcessIdentity.h"

#include <fstream>
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

ProcessIdentity ProcessIdentity::ofProcess(uint32_t number) {
  ProcessIdentity identity;
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  if (!std::getline(file, line))
    return identity;
  // The name, in brackets, may hold anything; the state follows, and the start
  // is the 20th field from there on.
  const size_t bracket = line.rfind(')');
  if (bracket == std::string::npos)
    return identity;
  std::istringstream fields(line.substr(bracket + 1));
  std::string field, state;
  fields >> state;
  // One that is dead and not collected yet has ended.
  if (state == "Z" || state == "X")
    return identity;
  constexpr int fieldsBeforeStart = 18;
  for (int i = 0; i < fieldsBeforeStart; ++i)
    fields >> field;
  if (!(fields >> identity.started))
    return {};
  identity.number = number;
  identity.host = thisHost();
  return identity;
}

const ProcessIdentity &ProcessIdentity::ofThisProcess() {
  static const ProcessIdentity own =
      ofProcess(static_cast<uint32_t>(::getpid()));
  return own;
}

bool ProcessIdentity::isSeen() const {
  // Who asks runs.
  return *this == ofThisProcess() ||
         (host != 0 && host == thisHost() && ofProcess(number) == *this);
}
