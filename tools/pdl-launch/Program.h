//===- Program.h - A program that was started -------------------*- C++ -*-===//
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

/// A running program and what it writes.
class Program {
public:
  /// "trainer 0", and the words of its command.
  Program(std::string ofName, std::vector<std::string> ofWords)
      : name(std::move(ofName)), words(std::move(ofWords)) {}
  Program(Program &&) = default;
  Program &operator=(Program &&) = delete;

  /// Starts it with `signals` as its blocked signals, in a process group of its
  /// own, so that a terminal's Ctrl-C reaches it once: by the launcher. It gets
  /// SIGTERM if the launcher dies.
  pdlrt::Status start(const sigset_t &signals);
  bool running() const { return process > 0 && !status; }
  void signal(int number) const;
  /// Where it writes, standard output and error; -1 once closed.
  const int *pipes() const { return readEnds; }
  /// Passes on what came at pipe 0 or 1; false at its end.
  bool forward(int pipe, Output &output);
  /// Asks the system whether it ended; passes on the rest of its output then.
  bool collect(Output &output);
  /// Its exit status, or 128 and the signal that ended it.
  int exitStatus() const { return status.value_or(0); }
  /// "trainer 0 ended by signal 9 (Killed)".
  std::string endSentence() const;

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
