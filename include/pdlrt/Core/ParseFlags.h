//===- ParseFlags.h - Flags by CLI11 ----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header of its own, so that only programs with flags include CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PARSEFLAGS_H
#define PDLRT_CORE_PARSEFLAGS_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Core/Suggestion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace pdlrt {

/// What is wrong with the words of a program: that of its words which it does
/// not know, with the flag that may be meant, before one that it lacks.
inline std::string wrongWords(const CLI::App &app,
                              const CLI::ParseError &error) {
  const std::string sentence = error.what();
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  const auto flag = std::ranges::find_if(
      unknown, [](const std::string &word) { return word.starts_with("--"); });
  if (flag == unknown.end())
    return sentence;
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
             ? sentence + suggestName(name, known)
             : name + " is no flag here" + suggestName(name, known) + "; " +
                   sentence;
}

/// Reads a program's flags. The exit status where it has to end: that of
/// `--help` and its like, or 2 after a sentence that names `help` as the place
/// where flags are listed.
inline std::optional<int> parseFlags(CLI::App &app, int argc, char **argv,
                                     const std::string &help) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    return fail(2, wrongWords(app, error) + "; " + help + " what can be given");
  }
  return std::nullopt;
}

/// Checks a flag of seconds: 0 or more, and less than an age.
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

/// The time of a flag that `secondsFlag` has checked, or of another number of
/// seconds, at most an age.
inline ClockTime secondsOf(double seconds) {
  return std::chrono::duration_cast<ClockTime>(
      std::chrono::duration<double>(std::min(seconds, 1e9)));
}

} // namespace pdlrt

#endif // PDLRT_CORE_PARSEFLAGS_H
