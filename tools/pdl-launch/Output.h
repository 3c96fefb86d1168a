//===- Output.h - Prints the output of several programs ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_OUTPUT_H
#define PDL_TOOLS_PDL_LAUNCH_OUTPUT_H

#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/StandardStreams.h"

#include <string>
#include <string_view>
#include <unistd.h>

namespace pdllaunch {

/// Prints the lines of several programs. On a terminal, the last line is a
/// status line that is redrawn. It shows the progress reports of trainers. In
/// the log format json, each line of the standard error is a JSON object; lines
/// of programs that are none become the message of an object.
class Output {
public:
  explicit Output(bool onTerminal)
      : terminal(onTerminal && pdlrt::logFormat() == pdlrt::LogFormat::Text) {}
  ~Output() { clearStatus(); }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  /// Prints a line of a program after the program's name. `isResult`: the line
  /// comes from the standard output. Results are kept until they can be written
  /// (`flush`). Other lines are dropped if no process reads the output.
  void programLine(bool isResult, const std::string &name,
                   std::string_view line);
  /// Writes waiting results without blocking.
  void flush();
  /// Returns true if results wait, because standard output is not read.
  bool isWaiting() const { return !waiting.empty(); }
  /// Prints a line of the launcher itself about what it does. Not in the log
  /// format quiet.
  void say(const std::string &line);
  /// Prints a line of the launcher itself about a failure.
  void warn(const std::string &line);
  /// Sets the text of the status line, which is shown only on a terminal.
  void setStatus(std::string text);

private:
  void print(const char *level, const std::string &line);
  void clearStatus();
  void drawStatus();

  const bool terminal;
  pdlrt::UnblockedOutput results{STDOUT_FILENO};
  std::string waiting;
  bool drawn = false;
  std::string status;
  std::string progress;
};

/// Splits the output of a program into lines.
class LineSplitter {
public:
  /// Calls `take(line)` for each line that ends in `bytes`, and keeps the rest
  /// for the next call. Passes a line of `longestLine` bytes or more in pieces;
  /// the last piece may be empty.
  template <typename Take> void add(std::string_view bytes, Take take) {
    for (const char byte : bytes) {
      if (byte != '\n')
        rest += byte;
      if (byte == '\n' || rest.size() == longestLine) {
        take(std::string_view(rest));
        rest.clear();
      }
    }
  }
  /// Passes on a last line without line break.
  template <typename Take> void end(Take take) {
    if (!rest.empty())
      take(std::string_view(rest));
    rest.clear();
  }

private:
  static constexpr size_t longestLine = size_t(1) << 16;
  std::string rest;
};

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_OUTPUT_H
