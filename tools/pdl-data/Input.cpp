//===- Input.cpp - Rows of the files on the command line ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "Data/DataFlags.h"
#include "Data/FileFormat.h"
#include "Data/FileLists.h"
#include "GuessFormat.h"
#include "pdlrt/Core/StandardStreams.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

using namespace pdlrt;

/// Number of rows after the first line that decide whether it is a header.
static constexpr size_t comparedRows = 200;
static constexpr size_t maxMessages = 5;

static bool isNumber(std::string_view text) {
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

/// Compares the first row with those after it.
static HeaderFinding
compareFirst(const std::vector<std::string> &first,
             const std::vector<std::vector<std::string>> &others) {
  std::set<std::string> distinct;
  for (const std::string &cell : first)
    if (cell.empty() || isNumber(cell) || !distinct.insert(cell).second)
      return {.isHeader = false, .isSure = true};
  if (others.empty())
    return {.isHeader = true, .isSure = false};
  bool hasNumbers = false;
  for (size_t i = 0; i < first.size(); ++i) {
    size_t numbers = 0, filled = 0;
    for (const std::vector<std::string> &row : others) {
      if (i >= row.size() || row[i].empty())
        continue;
      ++filled;
      numbers += isNumber(row[i]);
      if (row[i] == first[i])
        return {.isHeader = false, .isSure = true};
    }
    hasNumbers |= filled > 0 && 2 * numbers > filled;
  }
  return {.isHeader = true, .isSure = hasNumbers};
}

static Expected<HeaderFinding> findHeader(const std::string &path,
                                          const DataOptions &data) {
  auto opened = openRawRows(path, data);
  PDLRT_RETURN_IF_ERROR(opened.status());
  std::vector<std::vector<std::string>> found;
  while (found.size() <= comparedRows) {
    auto more = (*opened)->next();
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      break;
    if (!(*opened)->parse().ok())
      continue;
    std::vector<std::string> &row = found.emplace_back();
    for (const RawColumn &column : (*opened)->columns())
      row.emplace_back(column.values.empty() ? std::string_view()
                                             : column.values.front().text);
  }
  if (found.empty())
    return HeaderFinding();
  const std::vector<std::string> first = found.front();
  found.erase(found.begin());
  return compareFirst(first, found);
}

Expected<HeaderFinding> prepareInput(InputFlags &input) {
  DataOptions &data = input.data;
  auto files = expandFileLists(data.files, !data.pipe.empty(), "FILE");
  PDLRT_RETURN_IF_ERROR(files.status());
  data.files = *std::move(files);
  if (data.files.empty())
    return Status::invalidArgument("no file is given; name at least one");
  const auto guess = chooseFormat(data);
  PDLRT_RETURN_IF_ERROR(guess.status());
  if (!guess->empty())
    writeError("note: " + *guess + "\n");
  static const pdl_descriptor noRecord = {};
  static const pdl_program noProgram = {};
  PDLRT_RETURN_IF_ERROR(checkDataFlags(data, noRecord, noProgram));
  const std::string &first = data.files.front();
  if (data.header || input.noHeader ||
      !fileFormatOf(first, data).traits().hasCells || !canBeReadAgain(first))
    return HeaderFinding{.isHeader = data.header};
  auto found = findHeader(first, data);
  PDLRT_RETURN_IF_ERROR(found.status());
  data.header = found->isHeader;
  return found;
}

static double secondsNow() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

ProgressReport::ProgressReport(bool isQuiet)
    : isQuiet(isQuiet), isTerminal(::isatty(STDERR_FILENO) == 1),
      start(secondsNow()), last(start) {}

ProgressReport::~ProgressReport() {
  if (hasPrinted && isTerminal)
    writeError("\n");
}

Status ProgressReport::look(int64_t rows) {
  if (stopSignal())
    return Status::cancelled("stopped by a signal; nothing is written");
  nextLook = rows + (1 << 12);
  // A terminal shows one line that changes, and a file one line in 30 seconds.
  const double now = secondsNow(), interval = isTerminal ? 2 : 30;
  if (isQuiet || now - last < interval)
    return {};
  last = now;
  hasPrinted = true;
  writeError(fmt::format("{}{} rows, {:.0f} rows/s{}", isTerminal ? "\r" : "",
                         rows, double(rows) / (now - start),
                         isTerminal ? " " : "\n"));
  return {};
}

Expected<InputReport> visitRows(const InputFlags &input, bool parses,
                                const RowVisitor &visit) {
  InputReport report;
  ProgressReport progress(input.quiet);
  for (size_t file = 0; file < input.data.files.size(); ++file) {
    const std::string &path = input.data.files[file];
    auto rows = openRawRows(path, input.data);
    PDLRT_RETURN_IF_ERROR(rows.status());
    report.byFile.push_back(0);
    while (input.limit == 0 || report.rows < input.limit) {
      auto more = (*rows)->next();
      PDLRT_RETURN_IF_ERROR(more.status());
      if (!*more)
        break;
      const int64_t number = report.rows++;
      ++report.byFile.back();
      PDLRT_RETURN_IF_ERROR(progress.note(report.rows));
      if (parses)
        if (Status status = (*rows)->parse(); !status.ok()) {
          if (report.bad++ >= input.maxBadRows)
            return status;
          if (report.messages.size() < maxMessages)
            report.messages.push_back(status.message());
          continue;
        }
      auto goesOn = visit({**rows, path, file, number});
      PDLRT_RETURN_IF_ERROR(goesOn.status());
      if (!*goesOn)
        return report;
    }
  }
  return report;
}

void warnOfBadRows(const InputReport &report) {
  for (const std::string &message : report.messages)
    writeError("warning: bad row: " + message + "\n");
  if (report.bad > 0)
    writeError(fmt::format("warning: {} of {} rows are bad and left out\n",
                           report.bad, report.rows));
}

std::string_view writtenTextOf(const RowValue &value, std::string &storage) {
  char digits[32];
  std::to_chars_result end = {};
  switch (value.kind) {
  case RowValue::Kind::Missing:
    return {};
  case RowValue::Kind::Text:
  case RowValue::Kind::Truth:
    return value.text;
  case RowValue::Kind::Integer:
    end = std::to_chars(digits, digits + sizeof(digits), value.integer);
    break;
  case RowValue::Kind::Number:
    if (std::isnan(value.number))
      return {};
    // Numbers that are floats have fewer digits as such.
    end = double(float(value.number)) == value.number
              ? std::to_chars(digits, digits + sizeof(digits),
                              float(value.number))
              : std::to_chars(digits, digits + sizeof(digits), value.number);
    break;
  }
  return storage.assign(digits, end.ptr);
}

const std::vector<size_t> &ColumnIndex::indicesOf(const InputRow &row) {
  if (std::exchange(file, row.file) != row.file)
    indices.clear();
  const std::span<const RawColumn> columns = row.rows.columns();
  for (size_t i = indices.size(); i < columns.size(); ++i) {
    const auto [found, isNew] = byName.emplace(columns[i].name, all.size());
    if (isNew)
      all.push_back(columns[i].name);
    indices.push_back(found->second);
  }
  return indices;
}
