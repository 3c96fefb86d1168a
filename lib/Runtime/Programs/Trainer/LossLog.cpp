//===- LossLog.cpp - Log of the losses of steps ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/LossLog.h"

#include "pdlrt/Core/Log.h"

#include <fmt/format.h>

using namespace pdlrt;

Status LossLog::open(const std::string &path) { return file.open(path); }

Status LossLog::resume(const std::string &path, int64_t lines, int64_t steps) {
  Expected<int64_t> kept = file.openAfter(path, lines);
  if (!kept)
    return kept.status();
  if (*kept > 0 && *kept < lines)
    logWarning(fmt::format(
        "{} has {} lines, but training goes on after {} steps: from here on "
        "its lines are not numbered as the steps are, and steps that are "
        "trained again may stand in it twice",
        path, *kept, steps));
  return {};
}

std::optional<int64_t> LossLog::lines() const {
  if (!file.isOpen())
    return {};
  return file.lines();
}

void LossLog::add(const StepResult &result) {
  if (file.isOpen())
    note(file.write(
        result.weightSum != 0
            ? fmt::format("{:.17g}", result.lossSum / result.weightSum)
            : "nan"));
}

void LossLog::flush() {
  if (file.isOpen())
    note(file.flush());
}

void LossLog::flushQuietly() { static_cast<void>(file.flush()); }

void LossLog::close() {
  if (file.isOpen())
    note(file.close());
}

void LossLog::note(const Status &status) {
  if (status.ok())
    return;
  logWarning(status.message() + "; the training goes on without --log-losses");
  // Ignores a further error: the first one was just logged.
  static_cast<void>(file.close());
}
