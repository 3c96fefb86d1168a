//===- ParseFlags.h - Flags by CLI11 ----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A separate header, so that only programs with flags include CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PARSEFLAGS_H
#define PDLRT_CORE_PARSEFLAGS_H

#include "pdlabi/version.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Core/Suggestion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace pdlrt {

/// Returns the error message for wrong arguments. If an argument is an unknown
/// flag, the message names this flag and a similar known one, because another
/// error, such as a missing flag, often follows from it.
inline std::string wrongWords(const CLI::App &app,
                              const CLI::ParseError &error) {
  const std::string message = error.what();
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  const auto flag = std::ranges::find_if(
      unknown, [](const std::string &word) { return word.starts_with("--"); });
  if (flag == unknown.end())
    return message;
  std::vector<std::string> known;
  const auto add = [&](const CLI::App &of) {
    for (const CLI::Option *option : of.get_options())
      for (const std::string &name : option->get_lnames())
        known.push_back("--" + name);
  };
  add(app);
  for (const CLI::App *command : app.get_subcommands())
    add(*command);
  const std::string name = flag->substr(0, flag->find('='));
  return dynamic_cast<const CLI::ExtrasError *>(&error)
             ? message + suggestName(name, known)
             : name + " is no flag here" + suggestName(name, known) + "; " +
                   message;
}

/// Parses a program's flags. Returns nullopt if the program can continue;
/// otherwise returns its exit status. After `--help` and similar flags, this is
/// their status. After an error, it is 2, and the printed message says that
/// `help` lists the flags.
inline std::optional<int> parseFlags(CLI::App &app, int argc, char **argv,
                                     const std::string &help) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    return fail(ExitCode::Usage,
                wrongWords(app, error) + "; " + help + " what can be given");
  }
  return std::nullopt;
}

/// Adds --help and --version to a program that links PDLVersion.
inline void addHelpAndVersion(CLI::App &app) {
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag(
      "--version", pdlabi::versionLine(app.get_name(), pdlabi::builtCommit()),
      "Print the version of PDL");
}

/// Adds the flag --list-metrics, which prints the result of `description` and
/// ends the program.
inline void addMetricList(CLI::App &app,
                          std::function<std::string()> description) {
  app.add_flag_callback(
      "--list-metrics",
      [description = std::move(description)] {
        // The end of the line is printed by the parser.
        std::string text = description();
        text.pop_back();
        throw CLI::CallForVersion(std::move(text), 0);
      },
      "Print the metrics of this program, one per line: name, type, unit, "
      "labels and meaning, separated by tabs");
}

/// Returns a validator for a number of seconds, from 0 to 1e9.
inline CLI::Validator secondsFlag() {
  return {[](const std::string &text) -> std::string {
            constexpr double most = 1e9;
            double seconds = 0;
            const char *end = text.data() + text.size();
            const auto [rest, error] =
                std::from_chars(text.data(), end, seconds);
            if (error == std::errc() && rest == end && seconds >= 0 &&
                seconds <= most)
              return {};
            return "'" + text + "' is no number of seconds, such as 10 or 0.5";
          },
          "", "seconds"};
}

/// Converts a number of seconds to a time. `seconds` must be at most 1e9, which
/// `secondsFlag` checks for flags.
inline ClockTime secondsOf(double seconds) {
  return std::chrono::duration_cast<ClockTime>(
      std::chrono::duration<double>(std::min(seconds, 1e9)));
}

} // namespace pdlrt

#endif // PDLRT_CORE_PARSEFLAGS_H
