//===- Output.cpp - Prints the output of several programs -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include <cerrno>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace pdllaunch;
using pdlrt::writeError;

/// Returns true if the line is a progress report, which a trainer prints every
/// few seconds.
static bool isProgress(std::string_view line) {
  return line.find(" samples/s") != std::string_view::npos &&
         line.find(" step ") != std::string_view::npos;
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

void Output::say(const std::string &line) {
  clearStatus();
  writeError("pdl-launch | " + line + "\n");
  drawStatus();
}

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
