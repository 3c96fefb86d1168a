//===- ProgramMain.cpp - How our programs begin and fail ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProgramMain.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <unistd.h>

using namespace pdlrt;

int pdlrt::fail(int status, const std::string &sentence) {
  std::fprintf(stderr, "error: %s\n", sentence.c_str());
  return status;
}

static bool isOutputClosed = false;

bool pdlrt::isStandardOutputClosed() { return isOutputClosed; }

bool pdlrt::isReaderGone(int descriptor) {
  pollfd output = {descriptor, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 &&
         (output.revents & (POLLERR | POLLHUP)) != 0;
}

/// Where a standard stream is closed, the next file that is opened would take
/// its place, and get what is printed.
static void occupyStandardStreams() {
  isOutputClosed = ::fcntl(STDOUT_FILENO, F_GETFD) < 0;
  // The lowest number that is free is taken.
  int last = -1;
  do
    last = ::open("/dev/null", O_RDWR);
  while (last >= 0 && last <= STDERR_FILENO);
  if (last > STDERR_FILENO)
    ::close(last);
}

int pdlrt::runProgram(int status, const std::string &memoryRemedy,
                      const std::function<int()> &run) {
  occupyStandardStreams();
  // A file that grows beyond the limit is an error of that write, EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run();
  } catch (const std::bad_alloc &) {
    return fail(status, "out of memory; " + memoryRemedy);
  } catch (const std::exception &exception) {
    return fail(status, exception.what());
  }
}
