//===- Progress.cpp - Progress display of a run ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/Progress.h"

#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/StandardStreams.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

using namespace pdlrt;

static constexpr std::chrono::milliseconds terminalInterval(100);
static constexpr std::chrono::milliseconds plainInterval(3000);

Progress::Progress(std::string label, bool terminal)
    : label(std::move(label)), terminal(terminal), lastTime(Clock::now()),
      next(lastTime + (terminal ? terminalInterval : plainInterval)) {}

Progress::~Progress() {
  if (terminal && shown)
    writeError("\r\033[K");
}

/// Returns a duration in its two largest units, such as "2 h 5 min".
static std::string describeDuration(double seconds) {
  constexpr int64_t minute = 60, hour = 3600;
  const auto whole = int64_t(std::min(std::ceil(seconds), 1e9));
  if (whole < minute)
    return fmt::format("{} s", whole);
  if (whole < hour)
    return fmt::format("{} min {} s", whole / minute, whole % minute);
  return fmt::format("{} h {} min", whole / hour, whole % hour / minute);
}

std::string Progress::describe(const std::string &label,
                               const ProgressState &state,
                               const ProgressRate &rate, bool bar) {
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
                      state.samples, rate.samplesPerSecond);
  if (!std::isnan(state.latestLoss))
    text += fmt::format(", loss {:.4f} (epoch {:.4f})", state.latestLoss,
                        state.loss);
  else if (!std::isnan(state.loss))
    text += fmt::format(", loss {:.4f}", state.loss);
  if (!std::isnan(state.auc))
    text += fmt::format(", AUC {:.4f}", state.auc);
  if (!std::isnan(rate.secondsLeft))
    text += ", " + describeDuration(rate.secondsLeft) + " left";
  if (state.keys > 0)
    text += fmt::format(", {} keys", state.keys);
  if (state.memoryBytes > 0)
    text += fmt::format(", {:.1f} GiB", double(state.memoryBytes) / (1 << 30));
  return text;
}

/// Returns the numbers of a line. Those that are not known are NaN.
static std::vector<LogField> logFieldsOf(const ProgressState &state,
                                         const ProgressRate &rate) {
  const auto known = [](int64_t number) {
    return number > 0 ? double(number)
                      : std::numeric_limits<double>::quiet_NaN();
  };
  return {{"step", double(state.steps)},
          {"expected_steps", known(state.totalSteps)},
          {"samples", double(state.samples)},
          {"samples_per_second", rate.samplesPerSecond},
          {"loss", state.latestLoss},
          {"epoch_loss", state.loss},
          {"auc", state.auc},
          {"seconds_left", rate.secondsLeft},
          {"keys", known(state.keys)},
          {"resident_memory_bytes", known(state.memoryBytes)}};
}

ProgressRate Progress::rateOf(const ProgressState &before,
                              const ProgressState &now, double seconds) {
  ProgressRate rate;
  if (!(seconds > 0))
    return rate;
  rate.samplesPerSecond = double(now.samples - before.samples) / seconds;
  const auto steps = double(now.steps - before.steps);
  if (now.totalSteps >= now.steps && now.totalSteps > 0 && steps > 0)
    rate.secondsLeft = double(now.totalSteps - now.steps) * seconds / steps;
  return rate;
}

void Progress::begin(const ProgressState &state) {
  last = state;
  lastTime = Clock::now();
}

void Progress::show(const ProgressState &state) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - lastTime).count();
  next = now + (terminal ? terminalInterval : plainInterval);
  shown = true;
  const ProgressRate rate = rateOf(last, state, seconds);
  const std::string text = describe(label, state, rate, terminal);
  last = state;
  lastTime = now;
  if (terminal)
    writeError("\r" + text + "\033[K");
  else
    logProgress(text, logFieldsOf(state, rate));
}
