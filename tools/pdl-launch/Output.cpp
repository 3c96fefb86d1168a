//===- Output.cpp - What the programs say ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace pdllaunch;

/// What a trainer's progress ends with, every few seconds.
static bool isProgress(std::string_view line) {
  return line.find(" samples/s") != std::string_view::npos &&
         line.find(" step ") != std::string_view::npos;
}

void Output::programLine(std::FILE *to, const std::string &name,
                         std::string_view line) {
  if (terminal && isProgress(line)) {
    progress = name + " | " + std::string(line);
    drawStatus();
    return;
  }
  clearStatus();
  std::fprintf(to, "%s | %.*s\n", name.c_str(), static_cast<int>(line.size()),
               line.data());
  std::fflush(to);
  drawStatus();
}

void Output::say(const std::string &line) {
  clearStatus();
  std::fprintf(stderr, "pdl-launch | %s\n", line.c_str());
  drawStatus();
}

void Output::setStatus(std::string text) {
  status = std::move(text);
  drawStatus();
}

void Output::clearStatus() {
  if (drawn)
    std::fputs("\r\033[K", stderr);
  drawn = false;
}

void Output::drawStatus() {
  if (!terminal || status.empty())
    return;
  std::string text = status;
  if (!progress.empty())
    text += "; " + progress;
  // A line that wraps could not be drawn anew.
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 &&
      text.size() >= size.ws_col)
    text.resize(size.ws_col - 1);
  std::fprintf(stderr, "\r%s\033[K", text.c_str());
  std::fflush(stderr);
  drawn = true;
}
