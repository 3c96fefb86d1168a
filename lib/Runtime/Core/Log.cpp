//===- Log.cpp - Log lines ------------------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Log.h"

#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/StandardStreams.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <spdlog/details/console_globals.h>
#include <spdlog/details/os.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>
#include <string_view>
#include <unistd.h>
#include <utility>

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
    // Other lines than warnings have no color.
    sink->set_color(spdlog::level::info, "");
    spdlog::logger made("pdl", std::move(sink));
    made.set_pattern("%H:%M:%S %^%v%$");
    return made;
  }();
  return instance;
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

LogFormat &pdlrt::logFormat() {
  static LogFormat format = LogFormat::Text;
  return format;
}

void pdlrt::takeLogFormat(int argc, const char *const *argv) {
  constexpr std::string_view flag = "--log-format";
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--")
      return;
    if (!word.starts_with(flag))
      continue;
    word.remove_prefix(flag.size());
    if (word.starts_with('='))
      word.remove_prefix(1);
    else if (word.empty() && i + 1 < argc)
      word = argv[i + 1];
    for (const auto &[name, format] : logFormats)
      if (word == name)
        logFormat() = format;
  }
}

static LogOrigin &ownOrigin() {
  static LogOrigin origin;
  return origin;
}

void pdlrt::setLogOrigin(LogOrigin origin) { ownOrigin() = std::move(origin); }

std::string pdlrt::currentTime() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(
          now.time_since_epoch())
          .count() %
      1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds);
}

std::string pdlrt::jsonLogLine(const LogOrigin &origin, const char *level,
                               std::string_view message,
                               std::span<const LogField> fields) {
  nlohmann::ordered_json line = {{"time", currentTime()}, {"level", level}};
  if (!origin.program.empty())
    line["program"] = origin.program;
  if (origin.rank)
    line["rank"] = *origin.rank;
  line["message"] = message;
  // Doubles represent all smaller whole numbers exactly.
  constexpr double maxWhole = 1LL << 53;
  for (const LogField &field : fields)
    if (std::trunc(field.value) == field.value &&
        std::abs(field.value) <= maxWhole)
      line[field.name] = int64_t(field.value);
    else if (std::isfinite(field.value))
      line[field.name] = field.value;
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

std::string pdlrt::unloggedWarning(const std::string &message) {
  return (logFormat() == LogFormat::Json
              ? jsonLogLine(ownOrigin(), "warning", message)
              : "warning: " + message) +
         "\n";
}

/// Writes a line as a JSON object.
static void writeJson(const char *level, const std::string &line,
                      std::span<const LogField> fields = {}) {
  writeError(jsonLogLine(ownOrigin(), level, line, fields) + "\n");
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static std::atomic<uint64_t> lineCount = 0;

uint64_t pdlrt::loggedLines() { return lineCount; }

void pdlrt::logError(const std::string &message) {
  if (logFormat() == LogFormat::Json)
    writeJson("error", message);
  else
    writeError("error: " + message + "\n");
}

void pdlrt::logProgress(const std::string &line,
                        std::span<const LogField> fields) {
  if (logFormat() != LogFormat::Json)
    return logInfo(line);
  ++lineCount;
  writeJson("progress", line, fields);
}

void pdlrt::logInfo(const std::string &line) {
  if (logFormat() == LogFormat::Quiet)
    return;
  ++lineCount;
  if (logFormat() == LogFormat::Json)
    writeJson("info", line);
  else
    logger().info(line);
}

void pdlrt::logWarning(const std::string &line) {
  ++lineCount;
  if (logFormat() == LogFormat::Json)
    writeJson("warning", line);
  else
    logger().warn("warning: " + line);
}

void pdlrt::logWarningOnce(const std::string &line) {
  static Mutex mutex;
  static std::set<std::string> said PDLRT_GUARDED_BY(mutex);
  const MutexLock lock(mutex);
  if (said.insert(line).second)
    logWarning(line);
}
