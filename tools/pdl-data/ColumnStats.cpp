//===- ColumnStats.cpp - Statistics of a column ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ColumnStats.h"

#include "Data/CellSplitter.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace pdlrt;

/// Words that are counted one by one.
static constexpr size_t maxWords = 16;

const std::vector<std::string> &missingTexts() {
  static const std::vector<std::string> texts = {
      "?", "NULL", "null", "NA", "N/A", "NaN", "nan", "None", "\\N"};
  return texts;
}

/// Returns true if a text is a whole number of 64 bits, written as PDL writes
/// it: then it can be an id without a hash.
static bool isPlainInteger(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.size() > 19 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos)
    return false;
  return digits.size() == 1 || digits.front() != '0';
}

static bool isAllDigits(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

void ColumnStats::addParts(std::string_view text) {
  for (size_t i = 0; i < separators.size(); ++i) {
    if (text.find(separators[i]) == std::string_view::npos)
      continue;
    PartStats &stats = parts[i];
    ++stats.cells;
    int64_t count = 0;
    std::string_view rest = text;
    while (true) {
      const size_t end = rest.find(separators[i]);
      const std::string_view part = trim(rest.substr(0, end));
      if (!part.empty()) {
        ++count;
        stats.distinct.add(hashOfValue(part));
        double number = 0;
        const auto parsed =
            std::from_chars(part.data(), part.data() + part.size(), number);
        stats.numbers +=
            parsed.ec == std::errc() && parsed.ptr == part.data() + part.size();
      }
      if (end == std::string_view::npos)
        break;
      rest.remove_prefix(end + 1);
    }
    stats.minParts = stats.cells == 1 ? count : std::min(stats.minParts, count);
    stats.maxParts = std::max(stats.maxParts, count);
    stats.parts += count;
  }
}

void ColumnStats::addText(std::string_view text) {
  ++values;
  longestText = std::max(longestText, text.size());
  distinct.add(hashOfValue(text));
  frequent.add(text);
  double number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool isNumber =
      error == std::errc() && rest == end && std::isfinite(number);
  if (isNumber && isPlainInteger(text)) {
    ++wholeNumbers;
  } else if (isNumber && !isAllDigits(text)) {
    ++decimals;
  } else if (isAllDigits(text)) {
    ++oddNumbers;
  } else if (!hasManyWords) {
    ++words.try_emplace(std::string(text), 0).first->second;
    hasManyWords = words.size() > maxWords;
  }
  if (isNumber)
    numbers.add(number);
  else
    addParts(text);
}

/// Returns false if the value is missing.
bool ColumnStats::addValue(const RowValue &value) {
  const std::string_view text = writtenTextOf(value, storage);
  if (text.empty() ||
      std::ranges::find(missingTexts(), text) != missingTexts().end()) {
    ++missingByText.try_emplace(std::string(text), 0).first->second;
    return false;
  }
  addText(text);
  return true;
}

void ColumnStats::add(const RawColumn *column) {
  ++rows;
  if (!column || !column->isGiven) {
    ++missing;
    return;
  }
  ++given;
  int64_t present = 0;
  for (const RowValue &value : column->values)
    present += addValue(value);
  missing += present == 0;
  const auto size = int64_t(column->values.size());
  lists += !column->isAlone;
  minList = given == 1 ? size : std::min(minList, size);
  maxList = std::max(maxList, size);
  ++lengths[std::min(size_t(size), maxLength)];
}

Expected<InputReport>
readColumnStats(const InputFlags &input,
                std::vector<std::unique_ptr<NamedStats>> &columns) {
  ColumnIndex index;
  std::vector<const RawColumn *> row;
  return visitRows(
      input, /*parses=*/true, [&](const InputRow &each) -> Expected<bool> {
        const std::vector<size_t> &indices = index.indicesOf(each);
        while (columns.size() < index.names().size()) {
          columns.push_back(std::make_unique<NamedStats>());
          columns.back()->name = index.names()[columns.size() - 1];
          // Earlier rows lacked the column.
          columns.back()->stats.rows = columns.front()->stats.rows;
          columns.back()->stats.missing = columns.front()->stats.rows;
        }
        row.assign(columns.size(), nullptr);
        const std::span<const RawColumn> given = each.rows.columns();
        for (size_t i = 0; i < given.size(); ++i)
          row[indices[i]] = &given[i];
        for (size_t i = 0; i < columns.size(); ++i)
          columns[i]->stats.add(row[i]);
        return true;
      });
}
