//===- Progress.cpp - Progress display of a run ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/Progress.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StandardStreams.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace pdlrt;

static constexpr std::chrono::milliseconds terminalInterval(100);
static constexpr std::chrono::milliseconds plainInterval(3000);

Progress::Progress(std::string label, bool terminal)
    : label(std::move(label)), terminal(terminal), start(Clock::now()),
      next(start + (terminal ? terminalInterval : plainInterval)) {}

Progress::~Progress() {
  if (terminal && shown)
    writeError("\r\033[K");
}

std::string Progress::describe(const std::string &label,
                               const ProgressState &state, double seconds,
                               bool bar) {
  std::string text = label;
  if (state.totalSteps > 0) {
    const double share =
        std::min(1.0, double(state.steps) / double(state.totalSteps));
    if (bar) {
      constexpr int width = 24;
      const int filled = int(share * width);
      text += " [" + std::string(filled, '=') +
              std::string(width - filled, ' ') + "]";
    }
    text += fmt::format(" {:3.0f}%", 100 * share);
  }
  text += fmt::format(" step {}, {} samples, {:.0f} samples/s", state.steps,
                      state.samples,
                      seconds > 0 ? double(state.samples) / seconds : 0.0);
  if (!std::isnan(state.loss))
    text += fmt::format(", loss {:.4f}", state.loss);
  if (!std::isnan(state.auc))
    text += fmt::format(", AUC {:.4f}", state.auc);
  return text;
}

void Progress::show(const ProgressState &state) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - start).count();
  next = now + (terminal ? terminalInterval : plainInterval);
  shown = true;
  std::string text = describe(label, state, seconds, terminal);
  if (terminal)
    writeError("\r" + text + "\033[K");
  else
    logInfo(text);
}
