//===- StandardStreams.h - Streams that nobody may read ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipe that no process reads, or a terminal that is paused, blocks a write to
// it for ever. Messages are not worth that, and results only until the process
// is told to stop.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_STANDARDSTREAMS_H
#define PDLRT_CORE_STANDARDSTREAMS_H

#include <cstddef>
#include <cstdio>
#include <string_view>
#include <sys/types.h>

namespace pdlrt {

/// A descriptor of this process that is written to without waiting for a
/// reader. Other processes that share the descriptor notice nothing. It may be
/// replaced meanwhile (`dup2`). Not thread-safe.
class UnblockedOutput {
public:
  /// The descriptor stays the caller's.
  constexpr explicit UnblockedOutput(int descriptor) : descriptor(descriptor) {}
  UnblockedOutput(const UnblockedOutput &) = delete;
  UnblockedOutput &operator=(const UnblockedOutput &) = delete;

  /// Returns how many bytes were taken, or -1 and `errno`: EAGAIN if there is
  /// no room for any.
  ssize_t write(const char *data, size_t size);
  int number() const { return descriptor; }

private:
  void look();

  enum class Kind { Unknown, Waitless, Reopened, Socket, Other };
  const int descriptor;
  Kind kind = Kind::Unknown;
  dev_t device = 0;
  ino_t inode = 0;
  /// The same file, opened once more; -1: not.
  int own = -1;
};

/// Writes lines to the standard error. If no process reads them, waits for a
/// second and then drops lines without waiting, until they are read again; a
/// line then says how many were dropped. Thread-safe.
void writeError(std::string_view lines);

/// The stream for results, in place of `stdout`: a write waits until the text
/// is read. Once a stop signal has come (StopSignal.h), it waits for three
/// seconds, and then the stream has an error and takes nothing more.
std::FILE *standardOutput();

/// Returns whether results were lost, because no process read them before this
/// one stopped. Thread-safe.
bool isOutputUnread();

} // namespace pdlrt

#endif // PDLRT_CORE_STANDARDSTREAMS_H
