//===- FileLimit.cpp - Limit of open files --------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/FileLimit.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace pdlrt;

void pdlrt::raiseFileLimit() {
  // More connections than any job needs; some systems allow billions.
  constexpr rlim_t enough = rlim_t(1) << 20;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  const rlim_t wanted = std::min(limit.rlim_max, enough);
  if (limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = wanted;
  // If the system refuses, the old limit remains.
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

Status pdlrt::checkFileLimit(uint64_t least) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= least)
    return {};
  return Status::resourceExhausted(
      "this process may have " + std::to_string(limit.rlim_cur) +
      " files and connections open, and needs " + std::to_string(least) +
      "; raise the limit with 'ulimit -n'");
}

std::string pdlrt::describeFileLimit() {
  rlimit limit = {};
  const bool isKnown = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  return "this process has as many files and connections open as it may (" +
         (isKnown ? std::to_string(limit.rlim_cur) : std::string("its limit")) +
         "); raise the limit with 'ulimit -n'";
}

bool pdlrt::hasFilesToSpare() {
  constexpr rlim_t kept = 16;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return true;
  const rlim_t most = std::min<rlim_t>(limit.rlim_cur, INT_MAX);
  const rlim_t needed = std::min<rlim_t>(kept, most / 8) + 1;
  // Files get the lowest free numbers, so the highest numbers are usually free.
  rlim_t spare = 0;
  for (rlim_t file = most; file-- > 0 && spare < needed;)
    if (::fcntl(int(file), F_GETFD) < 0 && errno == EBADF)
      ++spare;
  return spare >= needed;
}

bool pdlrt::isAtFileLimit() {
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return errno == EMFILE;
  ::close(file);
  return false;
}
