//===- ProcessIdentity.cpp - Identity of a process ------------------------===//
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
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <xxhash.h>

using namespace pdlrt;

/// Returns a number that identifies this host until it restarts, or 0 if the
/// system has none.
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

namespace {
/// Information of the system about a process.
struct FoundProcess {
  /// Host 0 if the process has ended but was not reaped yet.
  ProcessIdentity identity;
  bool isSuspended = false;
};
} // namespace

/// Reads the state of a process. Returns nothing if this process cannot see the
/// other one.
static std::optional<FoundProcess> readProcess(uint32_t number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  // The second field is the name, in brackets, which may contain any character.
  // The state follows it. The start time is the 20th field, counted from the
  // state.
  const size_t bracket = line.rfind(')');
  if (bracket == std::string::npos)
    return std::nullopt;
  std::istringstream fields(line.substr(bracket + 1));
  std::string field, state;
  fields >> state;
  // A zombie is a process that has ended.
  if (state == "Z" || state == "X")
    return FoundProcess();
  FoundProcess found;
  ProcessIdentity &identity = found.identity;
  constexpr int fieldsBeforeStart = 18;
  for (int i = 0; i < fieldsBeforeStart; ++i)
    fields >> field;
  if (!(fields >> identity.started))
    return std::nullopt;
  identity.number = number;
  identity.host = thisHost();
  // Stopped by a signal, or by a debugger.
  found.isSuspended = state == "T" || state == "t";
  return found;
}

ProcessIdentity ProcessIdentity::ofProcess(uint32_t number) {
  return readProcess(number).value_or(FoundProcess()).identity;
}

/// Calls `function` with a new socket and the address of a process's abstract
/// socket, whose name is `door`. Closes the new socket, unless `keeps` and the
/// call succeeds. Returns 0 or an errno.
template <typename Function>
static int atDoor(const std::string &door, bool keeps, Function function) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return errno;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  door.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto size =
      socklen_t(offsetof(sockaddr_un, sun_path) + 1 + door.size());
  const int result =
      function(socket, reinterpret_cast<const sockaddr *>(&address), size);
  const int error = result == 0 ? 0 : errno;
  if (!keeps || error != 0)
    ::close(socket);
  return error;
}

const ProcessIdentity &ProcessIdentity::ofThisProcess() {
  static const ProcessIdentity own = [] {
    ProcessIdentity made = ofProcess(static_cast<uint32_t>(::getpid()));
    // Binds a socket for as long as the process lives. Processes of other
    // containers notice the end of this process by it. Without it they wait
    // until no heartbeat has arrived for too long.
    if (made.host != 0)
      (void)atDoor(made.door(), /*keeps=*/true, ::bind);
    return made;
  }();
  return own;
}

std::string ProcessIdentity::door() const {
  char name[64];
  const int size =
      std::snprintf(name, sizeof(name), "pdl-process-%016llx-%llx-%x",
                    static_cast<unsigned long long>(host),
                    static_cast<unsigned long long>(started), unsigned(number));
  return {name, size_t(size)};
}

bool ProcessIdentity::watch() {
  hasDoor = host != 0 && !isOfThisHost() &&
            atDoor(door(), /*keeps=*/false, ::connect) == 0;
  return hasDoor || isOfThisHost();
}

bool ProcessIdentity::isOfThisHost() const {
  return host != 0 && host == thisHost();
}

bool ProcessIdentity::hasEnded() const {
  if (hasDoor)
    return atDoor(door(), /*keeps=*/false, ::connect) == ECONNREFUSED;
  // 0 and negative numbers would select groups of processes. This process
  // itself is running.
  if (!isOfThisHost() || number == 0 || number > INT_MAX ||
      *this == ofThisProcess())
    return false;
  if (const auto found = readProcess(number))
    return found->identity != *this;
  // Signal 0 is not sent: it only checks whether the process exists.
  return ::kill(pid_t(number), 0) != 0 && errno == ESRCH;
}

ProcessIdentity::State ProcessIdentity::state() const {
  if (hasEnded())
    return State::Unknown;
  if (hasDoor)
    return State::Alive;
  if (!isOfThisHost())
    return State::Unknown;
  const auto found = readProcess(number);
  if (!found || found->identity != *this)
    return State::Unknown;
  return found->isSuspended ? State::Suspended : State::Alive;
}

std::string ProcessIdentity::describeState() const {
  const State now = state();
  if (now == State::Unknown)
    return {};
  if (hasDoor)
    return "its process in another container of this host has not ended";
  return "process " + std::to_string(number) + " of this host is " +
         (now == State::Suspended ? "stopped (SIGSTOP)" : "alive");
}
