//===- Shrink.cpp - The command `shrink` ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shrink.h"

#include "Common.h"
#include "pdlrt/Checkpoint/Shrink.h"
#include "pdlrt/Core/ProgramMain.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

using namespace pdlrt;

/// Parses a finite decimal number, with no text after it.
static std::optional<double> numberOf(std::string_view text) {
  double number = 0;
  const char *const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || !std::isfinite(number))
    return std::nullopt;
  return number;
}

/// Parses a score such as "show=0.1,click=0.9".
static Status readScore(std::string_view text, ShrinkOptions &options) {
  for (std::string_view left = text; !left.empty();) {
    const std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    const size_t equal = one.find('=');
    const std::string name(one.substr(0, equal));
    const std::optional<double> weight = equal == std::string_view::npos
                                             ? std::nullopt
                                             : numberOf(one.substr(equal + 1));
    if (name.empty() || !weight)
      return Status::invalidArgument(fmt::format(
          "--score: '{}' is no weight of a row slot; give them as in "
          "show=0.1,click=0.9",
          one));
    if (std::ranges::any_of(options.score, [&](const auto &known) {
          return known.first == name;
        }))
      return Status::invalidArgument(fmt::format(
          "--score: {} is there twice; leave one of them out", name));
    options.score.emplace_back(name, *weight);
  }
  return {};
}

static Expected<ShrinkOptions> optionsOf(const ShrinkFlags &flags) {
  ShrinkOptions options;
  if (flags.unseen)
    options.unseen = int64_t(*flags.unseen);
  PDLRT_RETURN_IF_ERROR(readScore(flags.score, options));
  const char *const scoreless = !flags.decay.empty()   ? "--decay"
                                : !flags.least.empty() ? "--least"
                                                       : nullptr;
  if (scoreless && options.score.empty())
    return Status::invalidArgument(
        std::string(scoreless) +
        ": is of scores; say with --score what they are made of, as in --score "
        "show=0.1,click=0.9");
  if (!options.score.empty() && !scoreless)
    return Status::invalidArgument(
        "--score: changes nothing by itself; give --least, "
        "below which rows go, or --decay, or both");
  if (!options.unseen && options.score.empty())
    return Status::invalidArgument(
        "give --unseen, or --score with --least: without "
        "them no row goes");
  if (!flags.decay.empty()) {
    const std::optional<double> decay = numberOf(flags.decay);
    if (!decay || *decay <= 0 || *decay > 1)
      return Status::invalidArgument("--decay: '" + flags.decay +
                                     "' is no number above 0 and at most 1");
    options.decay = *decay;
  }
  if (!flags.least.empty()) {
    const std::optional<double> least = numberOf(flags.least);
    if (!least)
      return Status::invalidArgument("--least: '" + flags.least +
                                     "' is no finite number");
    options.least = *least;
  }
  return options;
}

int shrinkTo(const std::string &path, const ShrinkFlags &flags,
             const std::string &output) {
  const Expected<ShrinkOptions> options = optionsOf(flags);
  if (!options)
    return failUsage(options.status());
  if (const Status status = checkNewFolder(output); !status.ok())
    return failUsage(status);
  const Expected<Checkpoint> checkpoint = openNamed(path);
  if (!checkpoint)
    return fail(checkpoint.status());
  if (const Status status = makeFolderOf(output); !status.ok())
    return fail(status);
  const Expected<std::vector<ShrunkTable>> shrunk =
      shrinkCheckpoint(*checkpoint, output, *options);
  if (!shrunk)
    return fail(shrunk.status());
  for (const ShrunkTable &table : *shrunk) {
    std::string line = fmt::format("table @{}: {} of {} rows are left",
                                   table.table, table.rowsLeft, table.rows);
    if (table.waiting > 0)
      line += fmt::format(", {} of {} keys that wait", table.waitingLeft,
                          table.waiting);
    print(line);
  }
  return 0;
}
