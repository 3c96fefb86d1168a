//===- ProgramMain.cpp - Common main function of programs -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProgramMain.h"

#include "pdlrt/Core/StandardStreams.h"

#include <csignal>
#include <exception>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <unistd.h>

using namespace pdlrt;

int pdlrt::fail(ExitCode code, const std::string &sentence) {
  writeError("error: " + sentence + "\n");
  return statusOf(code);
}

int pdlrt::fail(const Status &failure) {
  return fail(exitCodeOf(failure.code()), failure.message());
}

int pdlrt::failUsage(const Status &failure) {
  return failure.code() == PDL_INVALID_ARGUMENT
             ? fail(ExitCode::Usage, failure.message())
             : fail(failure);
}

static bool isOutputClosed = false;

bool pdlrt::isStandardOutputClosed() { return isOutputClosed; }

bool pdlrt::isReaderGone(int descriptor) {
  pollfd output = {descriptor, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 &&
         (output.revents & (POLLERR | POLLHUP)) != 0;
}

/// Opens /dev/null for each standard stream that is closed. Otherwise the next
/// file to be opened would get the stream's descriptor, and printed text would
/// be written to that file.
static void occupyStandardStreams() {
  isOutputClosed = ::fcntl(STDOUT_FILENO, F_GETFD) < 0;
  // open() returns the lowest free number.
  int last = -1;
  do
    last = ::open("/dev/null", O_RDWR);
  while (last >= 0 && last <= STDERR_FILENO);
  if (last > STDERR_FILENO)
    ::close(last);
}

int pdlrt::runProgram(const std::string &memoryRemedy,
                      const std::function<int()> &run) {
  occupyStandardStreams();
  // A write beyond the file size limit then fails with EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run();
  } catch (const std::bad_alloc &) {
    return fail(Status::outOfMemory("out of memory; " + memoryRemedy));
  } catch (const std::exception &exception) {
    return fail(Status::internal(exception.what()));
  }
}
