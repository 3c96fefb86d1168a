//===- StandardStreams.h - Streams that nobody may read ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A write to a pipe that no process reads, or to a paused terminal, blocks
// forever. Log and error messages must not block a program. Results may block
// it, but only until a stop signal arrives.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_STANDARDSTREAMS_H
#define PDLRT_CORE_STANDARDSTREAMS_H

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <sys/types.h>

namespace pdlrt {

/// Writes to a descriptor of this process without waiting for a reader. Does
/// not change the flags of the open file, which other processes may share. The
/// descriptor may be replaced between writes (`dup2`). Not thread-safe.
class UnblockedOutput {
public:
  /// Does not take ownership of `descriptor`.
  constexpr explicit UnblockedOutput(int descriptor) : descriptor(descriptor) {}
  UnblockedOutput(const UnblockedOutput &) = delete;
  UnblockedOutput &operator=(const UnblockedOutput &) = delete;

  /// Writes as many bytes as possible without waiting. Returns their number. On
  /// an error returns -1 and sets `errno`; EAGAIN means that no byte can be
  /// written now.
  ssize_t write(const char *data, size_t size);
  int number() const { return descriptor; }

private:
  void look();

  enum class Kind { Unknown, Waitless, Reopened, Socket, Other };
  const int descriptor;
  Kind kind = Kind::Unknown;
  dev_t device = 0;
  ino_t inode = 0;
  /// A second descriptor of the same file, opened with O_NONBLOCK; -1: none.
  int own = -1;
};

/// Writes lines to the standard error. If no process reads them, waits for one
/// second, then drops the lines. Further lines are dropped without waiting
/// until a process reads again; then a line says how many were dropped.
/// Thread-safe.
void writeError(std::string_view lines);

/// Returns the stream for results, which programs use in place of `stdout`. A
/// write waits until the text is read. After a stop signal (StopSignal.h), a
/// write waits for at most three seconds; then the stream has an error and
/// accepts nothing more.
std::FILE *standardOutput();

/// Returns true if results were lost, because no process read them within three
/// seconds after a stop signal. Thread-safe.
bool isOutputUnread();

} // namespace pdlrt

#endif // PDLRT_CORE_STANDARDSTREAMS_H
