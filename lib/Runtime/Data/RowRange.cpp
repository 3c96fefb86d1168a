//===- RowRange.cpp - Parses ranges of row numbers ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Data/BatchSource.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

using namespace pdlrt;

int64_t RowRange::Bound::resolve(int64_t total) const {
  if (!isPercent)
    return std::min(row, total);
  if (!needsTotal())
    return percent == 0 ? 0 : total;
  return std::min(total, static_cast<int64_t>(std::floor(
                             percent * static_cast<double>(total) / 100.0)));
}

bool RowRange::isAll() const {
  return begin.row == 0 && begin.percent == 0 && end.isPercent &&
         end.percent == 100;
}

static std::optional<RowRange::Bound> parseBound(std::string_view text) {
  RowRange::Bound bound;
  bound.isPercent = text.ends_with('%');
  const char *end = text.data() + text.size() - (bound.isPercent ? 1 : 0);
  // Only plain decimals: from_chars would also accept a sign, nan and inf.
  if (text.data() == end || text[0] < '0' || text[0] > '9')
    return std::nullopt;
  auto result = bound.isPercent
                    ? std::from_chars(text.data(), end, bound.percent,
                                      std::chars_format::fixed)
                    : std::from_chars(text.data(), end, bound.row);
  if (result.ec != std::errc() || result.ptr != end || bound.percent > 100)
    return std::nullopt;
  return bound;
}

Expected<RowRange> RowRange::parse(std::string_view text) {
  RowRange range;
  const size_t colon = text.find(':');
  bool good = colon != std::string_view::npos;
  if (good && colon > 0) {
    auto bound = parseBound(text.substr(0, colon));
    good = bound.has_value();
    range.begin = bound.value_or(Bound());
  }
  if (good && colon + 1 < text.size()) {
    auto bound = parseBound(text.substr(colon + 1));
    good = bound.has_value();
    range.end = bound.value_or(Bound());
  }
  if (good && range.begin.isPercent == range.end.isPercent)
    good = range.begin.percent <= range.end.percent &&
           range.begin.row <= range.end.row;
  if (!good)
    return Status::invalidArgument(
        "the row range `" + std::string(text) +
        "` is not of the form BEGIN:END, each a row number from 0 or a "
        "percentage from 0% to 100%, in ascending order; write for instance "
        "0%:80%");
  return range;
}
