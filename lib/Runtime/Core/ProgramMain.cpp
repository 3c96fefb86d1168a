//===- ProgramMain.cpp - Common main function of programs -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProgramMain.h"

#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/Mutex.h"

#include <csignal>
#include <exception>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

static Mutex messageMutex;
static std::string lastMessage PDLRT_GUARDED_BY(messageMutex);

std::string pdlrt::lastErrorMessage() {
  const MutexLock lock(messageMutex);
  return lastMessage;
}

static std::function<void(int status)> &endCall() {
  static std::function<void(int status)> call;
  return call;
}

void pdlrt::atEndOfProgram(std::function<void(int status)> call) {
  endCall() = std::move(call);
}

void pdlrt::endProgram(int status) {
  if (const auto call = std::exchange(endCall(), {}))
    call(status);
}

int pdlrt::fail(ExitCode code, const std::string &message) {
  {
    const MutexLock lock(messageMutex);
    lastMessage = message;
  }
  logError(message);
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

/// Calls `run` and converts exceptions to exit statuses.
static int runCaught(const std::string &memoryRemedy,
                     const std::function<int()> &run) {
  try {
    return run();
  } catch (const std::bad_alloc &) {
    return fail(Status::outOfMemory("out of memory; " + memoryRemedy));
  } catch (const std::exception &exception) {
    return fail(Status::internal(exception.what()));
  }
}

int pdlrt::runProgram(const std::string &memoryRemedy,
                      const std::function<int()> &run) {
  occupyStandardStreams();
  // A write beyond the file size limit then fails with EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  const int status = runCaught(memoryRemedy, run);
  // No exception may leave the main function.
  try {
    endProgram(status);
  } catch (const std::exception &exception) {
    fail(Status::internal(exception.what()));
  }
  return status;
}
