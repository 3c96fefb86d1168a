//===- Look.cpp - Shows rows and counts them ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Look.h"

#include "Data/FileLists.h"
#include "Data/InputFile.h"
#include "Output.h"
#include "pdlrt/Core/ProgramMain.h"

#include <fmt/format.h>
#include <string>

using namespace pdlrt;

/// Longer values are cut.
static constexpr size_t maxShown = 120;

/// Returns the values of a column as text: `a`, or `[a, b]` for a list.
static std::string shownText(const RawColumn &column) {
  std::string text, storage;
  for (const RowValue &value : column.values) {
    if (text.size() > maxShown)
      break;
    text +=
        (text.empty() ? "" : ", ") + std::string(writtenTextOf(value, storage));
  }
  if (text.size() > maxShown)
    text = text.substr(0, maxShown) + "...";
  const bool isList = !column.isAlone || column.values.size() != 1;
  return isList ? "[" + text + "]" : text;
}

int showHead(InputFlags input) {
  const auto header = prepareInput(input);
  if (!header)
    return failUsage(header.status());
  input.maxBadRows = INT64_MAX;
  std::string text;
  const auto report = visitRows(
      input, /*parses=*/true, [&](const InputRow &row) -> Expected<bool> {
        text += fmt::format("row {} ({}:{})\n", row.number, inputName(row.path),
                            row.rows.line());
        for (const RawColumn &column : row.rows.columns())
          if (column.isGiven)
            text += fmt::format("  {} = {}\n", column.name, shownText(column));
        return true;
      });
  if (!report)
    return fail(report.status());
  warnOfBadRows(*report);
  if (report->rows == 0)
    text += "there are no rows\n";
  return writeOutput("", text);
}

int countRows(InputFlags input) {
  auto files =
      expandFileLists(input.data.files, !input.data.pipe.empty(), "FILE");
  if (!files)
    return failUsage(files.status());
  std::string text;
  int64_t total = 0;
  for (const std::string &file : *files) {
    // Each file may have a header or none.
    InputFlags each = input;
    each.data.files = {file};
    if (const auto header = prepareInput(each); !header)
      return failUsage(header.status());
    const auto report =
        visitRows(each, /*parses=*/false,
                  [](const InputRow &) -> Expected<bool> { return true; });
    if (!report)
      return fail(report.status());
    total += report->rows;
    text += fmt::format("{}\t{}\n", report->rows, inputName(file));
  }
  if (files->size() != 1)
    text += fmt::format("{}\ttotal\n", total);
  return writeOutput("", text);
}
