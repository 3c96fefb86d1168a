//===- TestData.cpp - Data of the test after each epoch -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TestData.h"

#include "Data/FileFormat.h"
#include "pdlrt/Core/Log.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

using namespace pdlrt;

bool pdlrt::hasTest(const SessionOptions &options) {
  return !options.evaluateFiles.empty() || options.evaluateRows;
}

DataOptions pdlrt::testDataOf(const SessionOptions &options) {
  DataOptions data = options.data;
  if (!options.evaluateFiles.empty()) {
    data.files = options.evaluateFiles;
    const std::string &first = options.data.files.front();
    if (canBeReadAgain(first) && fileFormatOf(first, data).traits().hasCells)
      data.headerFile = first;
  }
  data.rows = options.evaluateRows.value_or(RowRange());
  data.filesInTurn = false;
  data.shuffleWindow = 0;
  data.shuffleFiles = false;
  return data;
}

/// Returns true if it is known that a range that starts at `lower` begins
/// before a range that ends at `upper`. Does not count rows, so it cannot
/// compare most percentages with row numbers.
static bool beginsBefore(const RowRange::Bound &lower,
                         const RowRange::Bound &upper) {
  const bool isFirst = lower.percent == 0 && lower.row == 0;
  const bool isLast = upper.isPercent && upper.percent == 100;
  if (isFirst || isLast || lower.isPercent != upper.isPercent)
    return isFirst || isLast;
  return lower.isPercent ? lower.percent < upper.percent
                         : lower.row < upper.row;
}

static std::string rangeText(const RowRange &range) {
  auto text = [](const RowRange::Bound &bound) {
    return bound.isPercent ? fmt::format("{}%", bound.percent)
                           : std::to_string(bound.row);
  };
  return text(range.begin) + ":" + text(range.end);
}

void pdlrt::warnOfOverlap(const SessionOptions &options) {
  const DataOptions tested = testDataOf(options);
  const std::vector<std::string> &trained = options.data.files;
  const RowRange &rows = options.data.rows;
  if (tested.files == trained) {
    // If one range is in percent and the other in rows, an overlap is known
    // only if one of them includes all rows.
    const bool isKnown = rows.isAll() || tested.rows.isAll() ||
                         (beginsBefore(rows.begin, tested.rows.end) &&
                          beginsBefore(tested.rows.begin, rows.end));
    if (isKnown)
      logWarning(fmt::format(
          "the test is on rows {} of the files of --data, and training on rows "
          "{} of them: what both have says nothing about new data; give "
          "--rows and --evaluate-rows that do not overlap, such as --rows "
          "0%:80% --evaluate-rows 80%:",
          rangeText(tested.rows), rangeText(rows)));
    return;
  }
  if (!rows.isAll() || !tested.rows.isAll())
    return;
  for (const std::string &file : tested.files)
    if (std::find(trained.begin(), trained.end(), file) != trained.end())
      logWarning(file + " is a file of --data and of --evaluate-data: what "
                        "both have says nothing about new data");
}
