//===- Log.cpp - Lines for the person who runs a program ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Log.h"

#include <atomic>
#include <mutex>
#include <set>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

using namespace pdlrt;

static spdlog::logger &logger() {
  static spdlog::logger instance = [] {
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    // Only warnings stand out.
    sink->set_color(spdlog::level::info, "");
    spdlog::logger made("pdl", std::move(sink));
    made.set_pattern("%H:%M:%S %^%v%$");
    return made;
  }();
  return instance;
}

static std::atomic<uint64_t> lineCount = 0;

uint64_t pdlrt::loggedLines() { return lineCount; }

void pdlrt::logInfo(const std::string &line) {
  ++lineCount;
  logger().info(line);
}

void pdlrt::logWarning(const std::string &line) {
  ++lineCount;
  logger().warn("warning: " + line);
}

void pdlrt::logWarningOnce(const std::string &line) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(line).second)
    logWarning(line);
}
