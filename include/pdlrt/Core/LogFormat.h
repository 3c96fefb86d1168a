//===- LogFormat.h - Format of log lines ------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_LOGFORMAT_H
#define PDLRT_CORE_LOGFORMAT_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pdlrt {

enum class LogFormat {
  /// Lines for people.
  Text,
  /// One JSON object per line, for programs that collect logs.
  Json,
  /// Lines for people, without those that are neither warnings nor errors.
  Quiet,
};

/// Formats with the names that --log-format has for them.
inline constexpr std::initializer_list<std::pair<const char *, LogFormat>>
    logFormats = {{"text", LogFormat::Text},
                  {"json", LogFormat::Json},
                  {"quiet", LogFormat::Quiet}};

/// Format of this process's log. Set it before threads start.
LogFormat &logFormat();

/// Sets the format if the command line has --log-format. Programs call this
/// before they parse their flags, so that errors about flags have the format
/// too. Ignores unknown formats, which the parser refuses, and words after
/// `--`.
void takeLogFormat(int argc, const char *const *argv);

/// Program that a log line comes from.
struct LogOrigin {
  std::string program;
  /// Absent if the program has no rank.
  std::optional<int64_t> rank;
};

/// Sets the origin of this process's lines. Call before threads start.
void setLogOrigin(LogOrigin origin);

/// Returns the current time as UTC, such as "2026-11-30T12:00:03.125Z".
std::string currentTime();

/// Number that a log line contains, for programs that read it.
struct LogField {
  const char *name;
  double value;
};

/// Returns a log line as a JSON object with the current time. `level` is
/// "info", "warning", "error" or "progress". Fields that are not finite are
/// left out. Replaces bytes that are not UTF-8.
std::string jsonLogLine(const LogOrigin &origin, const char *level,
                        std::string_view message,
                        std::span<const LogField> fields = {});

/// Returns the line of a warning in the format of this process, without the
/// time if it is text. For warnings that `logWarning` cannot write.
std::string unloggedWarning(const std::string &message);

/// Writes an error message: "error: " and `message`, or a JSON object.
/// Thread-safe.
void logError(const std::string &message);
/// Writes a line about progress. JSON objects also have `fields` as numbers.
/// Thread-safe.
void logProgress(const std::string &line, std::span<const LogField> fields);

} // namespace pdlrt

#endif // PDLRT_CORE_LOGFORMAT_H
