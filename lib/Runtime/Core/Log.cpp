//===- Log.cpp - Log lines ------------------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Log.h"

#include "pdlrt/Core/StandardStreams.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <spdlog/details/console_globals.h>
#include <spdlog/details/os.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>
#include <string_view>
#include <unistd.h>

using namespace pdlrt;

/// Write function for fopencookie(3).
static ssize_t writeLines(void *, const char *data, size_t size) {
  writeError(std::string_view(data, size));
  return ssize_t(size);
}

/// Returns a stream to the standard error. It drops lines that no process
/// reads.
static std::FILE *errorStream() {
  cookie_io_functions_t functions = {};
  functions.write = writeLines;
  std::FILE *stream = ::fopencookie(nullptr, "w", functions);
  return stream ? stream : stderr;
}

static spdlog::logger &logger() {
  static spdlog::logger instance = [] {
    using spdlog::color_mode;
    const bool isColored = ::isatty(STDERR_FILENO) == 1 &&
                           spdlog::details::os::is_color_terminal();
    auto sink = std::make_shared<
        spdlog::sinks::ansicolor_sink<spdlog::details::console_mutex>>(
        errorStream(), isColored ? color_mode::always : color_mode::never);
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
