//===- Duration.cpp - Durations that users write --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Duration.h"

#include "pdlrt/Core/WholeNumber.h"

#include <string>
#include <utility>

using namespace pdlrt;

Expected<int64_t> pdlrt::parseDuration(std::string_view text, int64_t least) {
  // "ms" ends in "s", so it comes first.
  static constexpr std::pair<std::string_view, int64_t> units[] = {
      {"ms", 1}, {"min", 60000}, {"s", 1000}, {"h", 3600000}};
  for (const auto &[unit, milliseconds] : units) {
    if (!text.ends_with(unit))
      continue;
    const auto number = parseWholeNumber(
        text.substr(0, text.size() - unit.size()), 0, INT32_MAX);
    if (number && int64_t(*number) * milliseconds >= least)
      return int64_t(*number) * milliseconds;
    if (number)
      return Status::invalidArgument("'" + std::string(text) +
                                     "' is shorter than " +
                                     std::to_string(least) + "ms");
    break;
  }
  return Status::invalidArgument(
      "'" + std::string(text) +
      "' is no duration; give for instance 500ms, 10s or 5min");
}
