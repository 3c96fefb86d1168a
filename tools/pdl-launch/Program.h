//===- Program.h - A started program ----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_PROGRAM_H
#define PDL_TOOLS_PDL_LAUNCH_PROGRAM_H

#include "Output.h"
#include "pdlrt/Core/Status.h"

#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pdllaunch {

/// Running program and its output.
class Program {
public:
  /// `ofName`: name of the program, such as "trainer 0". `ofWords`: words of
  /// its command.
  Program(std::string ofName, std::vector<std::string> ofWords)
      : name(std::move(ofName)), words(std::move(ofWords)) {}
  Program(Program &&) = default;
  Program &operator=(Program &&) = delete;

  /// Starts the program in its own process group, with `signals` blocked. So
  /// Ctrl-C of a terminal reaches it only through the launcher, and only once.
  /// If the launcher dies, the program receives SIGTERM.
  pdlrt::Status start(const sigset_t &signals);
  bool running() const { return process > 0 && !status; }
  void signal(int number) const;
  /// Returns the read ends of the program's standard output and error; -1 if
  /// closed.
  const int *pipes() const { return readEnds; }
  /// Forwards the available output of pipe 0 or 1. Returns false at the end of
  /// the output.
  bool forward(int pipe, Output &output);
  /// Returns true if the program has ended since the last call. Then forwards
  /// the rest of its output.
  bool collect(Output &output);
  /// Returns the exit status, or 128 plus the signal that ended the program.
  int exitStatus() const { return status.value_or(0); }
  /// Returns true if the program was started and has ended.
  bool hasEnded() const { return status.has_value(); }
  /// Returns a message such as "trainer 0 ended by signal 9 (Killed)".
  std::string endMessage() const;

  const std::string name;

private:
  void closePipe(int pipe, Output &output);

  std::vector<std::string> words;
  pid_t process = -1;
  int readEnds[2] = {-1, -1};
  LineSplitter lines[2];
  std::optional<int> status;
  bool killed = false;
};

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_PROGRAM_H
