//===- Input.h - Rows of the files on the command line ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_INPUT_H
#define PDL_TOOLS_PDL_DATA_INPUT_H

#include "Data/RawRows.h"
#include "pdlrt/Data/BatchSource.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Flags about the files that a command reads.
struct InputFlags {
  pdlrt::DataOptions data;
  /// True if the first line is a row, also if it looks like a header.
  bool noHeader = false;
  /// Maximum number of rows to read; 0: all.
  int64_t limit = 0;
  /// Maximum number of bad rows that are skipped.
  int64_t maxBadRows = 0;
  bool quiet = false;
};

/// Result of looking at the first lines of a file.
struct HeaderFinding {
  bool isHeader = false;
  /// True if the first line differs clearly from the others.
  bool isSure = true;
};

/// Replaces lists, folders and patterns by their files. Guesses the format of
/// files whose names do not tell it (`chooseFormat`), with a note on standard
/// error. Finds out whether the first line of delimited text is a header,
/// unless a flag says so, and sets `data.header`. Files that can be read only
/// once are not looked at.
pdlrt::Expected<HeaderFinding> prepareInput(InputFlags &input);

/// A row, and its position.
struct InputRow {
  pdlrt::RawRows &rows;
  const std::string &path;
  size_t file = 0;
  /// Number of the row over all files, from 0, including bad rows.
  int64_t number = 0;
};

/// Numbers of rows that a pass has read.
struct InputReport {
  int64_t rows = 0, bad = 0;
  /// Messages about the first bad rows.
  std::vector<std::string> messages;
  /// Number of rows by file.
  std::vector<int64_t> byFile;
};

/// Reports the progress of long work on standard error, about once in two
/// seconds. Not thread-safe.
class ProgressReport {
public:
  /// `isQuiet`: prints nothing.
  explicit ProgressReport(bool isQuiet);
  ~ProgressReport();
  ProgressReport(const ProgressReport &) = delete;
  ProgressReport &operator=(const ProgressReport &) = delete;

  /// Takes the number of rows so far. Cheap: reads the clock only sometimes.
  /// Returns an error after a signal to stop.
  pdlrt::Status note(int64_t rows) {
    return rows >= nextLook ? look(rows) : pdlrt::Status();
  }

private:
  pdlrt::Status look(int64_t rows);

  bool isQuiet, isTerminal, hasPrinted = false;
  int64_t nextLook = 1 << 12;
  double start, last;
};

/// Reads all rows of all files in order, and calls `visit` with each good row.
/// `parses`: rows are parsed; otherwise no row is bad. Returns an error if more
/// than `InputFlags::maxBadRows` rows are bad. `visit` returns false to stop.
using RowVisitor = std::function<pdlrt::Expected<bool>(const InputRow &row)>;
pdlrt::Expected<InputReport> visitRows(const InputFlags &input, bool parses,
                                       const RowVisitor &visit);

/// Prints the messages of a report as warnings, and the number of bad rows.
void warnOfBadRows(const InputReport &report);

/// Returns the text of a value as delimited text has it; empty if it is
/// missing. `storage`: holds the text of numbers.
std::string_view writtenTextOf(const pdlrt::RowValue &value,
                               std::string &storage);

/// Columns of all files by name. Files may have them in different orders.
class ColumnIndex {
public:
  /// Returns the index of each column of a row in `names`, which grows.
  const std::vector<size_t> &indicesOf(const InputRow &row);
  const std::vector<std::string> &names() const { return all; }

private:
  size_t file = SIZE_MAX;
  std::vector<size_t> indices;
  std::vector<std::string> all;
  std::map<std::string, size_t> byName;
};

#endif // PDL_TOOLS_PDL_DATA_INPUT_H
