//===- Output.h - What the programs say -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_OUTPUT_H
#define PDL_TOOLS_PDL_LAUNCH_OUTPUT_H

#include <cstdio>
#include <string>
#include <string_view>

namespace pdllaunch {

/// Prints lines of several programs. On a terminal the last line is a status
/// that is drawn anew, and that takes up what trainers say about their
/// progress.
class Output {
public:
  explicit Output(bool onTerminal) : terminal(onTerminal) {}
  ~Output() { clearStatus(); }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  /// A line of a program, with the program's name before it.
  void programLine(std::FILE *to, const std::string &name,
                   std::string_view line);
  /// A line of the launcher itself.
  void say(const std::string &line);
  /// What runs; shown on a terminal only.
  void setStatus(std::string text);

private:
  void clearStatus();
  void drawStatus();

  const bool terminal;
  bool drawn = false;
  std::string status;
  std::string progress;
};

/// Cuts what comes from a program into lines.
class LineSplitter {
public:
  /// Calls `take(line)` for each whole line; a line that never ends is cut.
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
  /// The last line may lack its end.
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
