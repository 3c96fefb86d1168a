//===- Output.cpp - Prints the output of several programs -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include <cerrno>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::LogFormat;
using pdlrt::logFormat;
using pdlrt::writeError;

/// Returns true if the line is a progress report, which a trainer prints every
/// few seconds.
static bool isProgress(std::string_view line) {
  return line.find(" samples/s") != std::string_view::npos &&
         line.find(" step ") != std::string_view::npos;
}

/// Returns the origin of lines of the program `name`, such as "trainer 0".
static pdlrt::LogOrigin originOf(const std::string &name) {
  const size_t space = name.find(' ');
  if (space == std::string::npos)
    return {name, std::nullopt};
  return {name.substr(0, space), std::stoll(name.substr(space + 1))};
}

/// Returns a line of the standard error of a program as a JSON object. A
/// program may also write other lines, for example if it crashes.
static std::string asJson(const std::string &name, std::string_view line) {
  if (line.starts_with("{\"time\":") && line.ends_with('}'))
    return std::string(line);
  return pdlrt::jsonLogLine(originOf(name), "info", line);
}

void Output::programLine(bool isResult, const std::string &name,
                         std::string_view line) {
  if (terminal && isProgress(line)) {
    progress = name + " | " + std::string(line);
    drawStatus();
    return;
  }
  clearStatus();
  std::string text = name + " | ";
  text += line;
  if (!isResult && logFormat() == LogFormat::Json)
    text = asJson(name, line);
  text += '\n';
  if (isResult) {
    waiting += text;
    flush();
  } else {
    writeError(text);
  }
  drawStatus();
}

void Output::flush() {
  size_t written = 0;
  while (written < waiting.size()) {
    const ssize_t count =
        results.write(waiting.data() + written, waiting.size() - written);
    if (count > 0) {
      written += static_cast<size_t>(count);
      continue;
    }
    // If the reader of the output has ended, the job continues.
    if (count == 0 || errno != EAGAIN)
      written = waiting.size();
    break;
  }
  waiting.erase(0, written);
}

void Output::print(const char *level, const std::string &line) {
  clearStatus();
  writeError(
      (logFormat() == LogFormat::Json
           ? pdlrt::jsonLogLine({"pdl-launch", std::nullopt}, level, line)
           : "pdl-launch | " + line) +
      "\n");
  drawStatus();
}

void Output::say(const std::string &line) {
  if (logFormat() != LogFormat::Quiet)
    print("info", line);
}

void Output::warn(const std::string &line) { print("warning", line); }

void Output::setStatus(std::string text) {
  status = std::move(text);
  drawStatus();
}

void Output::clearStatus() {
  if (drawn)
    writeError("\r\033[K");
  drawn = false;
}

void Output::drawStatus() {
  if (!terminal || status.empty())
    return;
  std::string text = status;
  if (!progress.empty())
    text += "; " + progress;
  // A line that wraps could not be redrawn.
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 &&
      text.size() >= size.ws_col)
    text.resize(size.ws_col - 1);
  writeError("\r" + text + "\033[K");
  drawn = true;
}
