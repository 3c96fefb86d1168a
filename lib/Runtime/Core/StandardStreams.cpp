//===- StandardStreams.cpp - Streams that nobody may read -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/StandardStreams.h"

#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pdlrt;

using Clock = std::chrono::steady_clock;

/// Maximum time that an error message waits for a reader, and that results wait
/// after the process was told to stop.
static constexpr std::chrono::milliseconds patienceOfErrors(1000);
static constexpr std::chrono::milliseconds patienceOfResults(3000);
/// Number of bytes that a pipe accepts without waiting if it is ready for
/// writing (PIPE_BUF).
static constexpr size_t pipeBytes = 4096;

//===----------------------------------------------------------------------===//
// Writes that do not wait
//===----------------------------------------------------------------------===//

/// Finds out how to write to the file to which the descriptor refers now.
void UnblockedOutput::look() {
  struct stat found;
  if (::fstat(descriptor, &found) != 0) {
    kind = Kind::Waitless;
    return;
  }
  if (kind != Kind::Unknown && found.st_dev == device && found.st_ino == inode)
    return;
  if (own >= 0)
    ::close(own);
  own = -1;
  device = found.st_dev;
  inode = found.st_ino;
  kind = Kind::Waitless;
  if (S_ISSOCK(found.st_mode))
    kind = Kind::Socket;
  if (!S_ISFIFO(found.st_mode) && !S_ISCHR(found.st_mode))
    return;
  // O_NONBLOCK belongs to an opened file, which other processes share.
  own = ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(),
               O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  kind = own >= 0 ? Kind::Reopened : Kind::Other;
}

ssize_t UnblockedOutput::write(const char *data, size_t size) {
  look();
  ssize_t count = 0;
  do {
    if (kind == Kind::Socket) {
      count = ::send(descriptor, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (kind == Kind::Other) {
      pollfd output = {descriptor, POLLOUT, 0};
      if (::poll(&output, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
      }
      count = ::write(descriptor, data, std::min(size, pipeBytes));
    } else {
      count = ::write(kind == Kind::Reopened ? own : descriptor, data, size);
    }
  } while (count < 0 && errno == EINTR);
  return count;
}

//===----------------------------------------------------------------------===//
// The standard error
//===----------------------------------------------------------------------===//

namespace {

/// Writes to the standard error. If no process reads it, drops lines, and later
/// reports their number. Needs no destructor, because it is used until the very
/// end of the process.
class Errors {
public:
  constexpr Errors() : output(STDERR_FILENO) {}
  void write(std::string_view lines);

private:
  bool put(std::string_view text, std::chrono::milliseconds patience)
      PDLRT_REQUIRES(mutex);

  Mutex mutex;
  UnblockedOutput output PDLRT_GUARDED_BY(mutex);
  /// No process has read for a while: the lines dropped since then.
  bool isStalled PDLRT_GUARDED_BY(mutex) = false;
  uint64_t dropped PDLRT_GUARDED_BY(mutex) = 0;
  /// True if only a part of the last line was written.
  bool isCut PDLRT_GUARDED_BY(mutex) = false;
};

} // namespace

/// Writes a text. Returns false if it was not read in time; then a part of it
/// may have been written.
bool Errors::put(std::string_view text, std::chrono::milliseconds patience) {
  const Clock::time_point end = Clock::now() + patience;
  const std::string rest = isCut ? "\n" + std::string(text) : std::string();
  std::string_view left = isCut ? std::string_view(rest) : text;
  while (!left.empty()) {
    const ssize_t count = output.write(left.data(), left.size());
    if (count > 0) {
      isCut = left[size_t(count) - 1] != '\n' && size_t(count) < left.size();
      left.remove_prefix(size_t(count));
      continue;
    }
    // An error of this stream cannot be reported: this stream is where errors
    // are printed.
    if (count == 0 || errno != EAGAIN)
      return true;
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd event = {output.number(), POLLOUT, 0};
    if (wait.count() <= 0 || ::poll(&event, 1, int(wait.count())) == 0)
      return false;
  }
  return true;
}

void Errors::write(std::string_view lines) {
  const MutexLock lock(mutex);
  if (isStalled)
    isStalled = !put(unloggedWarning(fmt::format(
                         "{} lines were dropped here, because the standard "
                         "error was not read",
                         dropped)),
                     std::chrono::milliseconds(0));
  if (!isStalled) {
    dropped = 0;
    isStalled = !put(lines, patienceOfErrors);
  }
  if (isStalled)
    dropped += uint64_t(std::ranges::count(lines, '\n'));
}

void pdlrt::writeError(std::string_view lines) {
  static constinit Errors errors;
  errors.write(lines);
}

//===----------------------------------------------------------------------===//
// The standard output
//===----------------------------------------------------------------------===//

static std::atomic<bool> isUnread{false};

bool pdlrt::isOutputUnread() { return isUnread.load(); }

/// Waits until the descriptor accepts bytes. Returns false if the process was
/// told to stop and no process has read for `patienceOfResults`.
static bool awaitReader(int descriptor) {
  pollfd events[] = {{descriptor, POLLOUT, 0}, {stopDescriptor(), POLLIN, 0}};
  while (true) {
    const bool stops = stopSignal() != 0;
    const int count = ::poll(events, stops ? 1 : 2,
                             stops ? int(patienceOfResults.count()) : -1);
    if (count > 0 && events[0].revents != 0)
      return true;
    if (count == 0 || (count < 0 && errno != EINTR))
      return false;
  }
}

/// Write function for fopencookie(3); returns 0 for an error.
static ssize_t writeResults(void *, const char *data, size_t size) {
  static constinit UnblockedOutput output(STDOUT_FILENO);
  size_t written = 0;
  while (written < size && !isUnread) {
    const ssize_t count = output.write(data + written, size - written);
    if (count > 0)
      written += size_t(count);
    else if (count == 0 || errno != EAGAIN)
      return 0;
    else if (!awaitReader(STDOUT_FILENO))
      isUnread = true;
  }
  if (written == size)
    return ssize_t(size);
  errno = EAGAIN;
  return 0;
}

std::FILE *pdlrt::standardOutput() {
  static std::FILE *const stream = [] {
    cookie_io_functions_t functions = {};
    functions.write = writeResults;
    std::FILE *made = ::fopencookie(nullptr, "w", functions);
    if (!made)
      return stdout;
    if (::isatty(STDOUT_FILENO) == 1)
      std::setvbuf(made, nullptr, _IOLBF, BUFSIZ);
    return made;
  }();
  return stream;
}
