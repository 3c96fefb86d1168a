//===- ColumnStats.h - Statistics of a column -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_COLUMNSTATS_H
#define PDL_TOOLS_PDL_DATA_COLUMNSTATS_H

#include "Data/RawRows.h"
#include "Input.h"
#include "Sketch.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Texts that are counted as missing, in addition to the empty text.
const std::vector<std::string> &missingTexts();

/// Statistics of the parts into which a character divides cells.
struct PartStats {
  /// Number of cells with the character.
  int64_t cells = 0;
  int64_t parts = 0, numbers = 0;
  int64_t minParts = 0, maxParts = 0;
  DistinctCounter distinct;
};

/// Statistics of the values of one column. Not thread-safe.
class ColumnStats {
public:
  /// Characters that may separate the values of a bag in a cell.
  static constexpr std::string_view separators = "|;,^ \x01\x02";
  /// Size of the longest list that has a counter of its own in `lengths`.
  static constexpr size_t maxLength = 64;

  /// Adds the values of a row. `column`: null if the row lacks the column.
  void add(const pdlrt::RawColumn *column);

  int64_t rows = 0;    ///< Rows that were added.
  int64_t given = 0;   ///< Rows that have the column.
  int64_t missing = 0; ///< Rows without a value that is not missing.
  int64_t lists = 0;   ///< Rows with a list: other than one value alone.
  int64_t values = 0;  ///< Values that are not missing.
  /// Values by their form: whole numbers, other numbers, numbers with leading
  /// zeros or too large for 64 bits.
  int64_t wholeNumbers = 0, decimals = 0, oddNumbers = 0;
  int64_t minList = 0, maxList = 0; ///< Number of values of a row.
  /// Number of rows by number of values; the last counter is for all above.
  std::array<int64_t, maxLength + 1> lengths = {};
  size_t longestText = 0;
  /// Numbers of missing values by their text.
  std::map<std::string, int64_t, std::less<>> missingByText;
  /// Numbers of values that are no number, by text, if there are few.
  std::map<std::string, int64_t, std::less<>> words;
  bool hasManyWords = false;
  DistinctCounter distinct;
  FrequentTexts frequent;
  NumberSummary numbers;
  std::array<PartStats, separators.size()> parts;

  int64_t numeric() const { return wholeNumbers + decimals; }
  int64_t texts() const {
    return values - wholeNumbers - decimals - oddNumbers;
  }
  /// Returns true if rows have lists of values.
  bool hasLists() const { return maxList > 1; }

private:
  bool addValue(const pdlrt::RowValue &value);
  void addText(std::string_view text);
  void addParts(std::string_view text);

  std::string storage;
};

/// Statistics of a column, with its name.
struct NamedStats {
  std::string name;
  ColumnStats stats;
};

/// Reads all rows, and adds them to the statistics of all columns.
pdlrt::Expected<InputReport>
readColumnStats(const InputFlags &input,
                std::vector<std::unique_ptr<NamedStats>> &columns);

#endif // PDL_TOOLS_PDL_DATA_COLUMNSTATS_H
