//===- PassedRows.h - What a pass has met so far ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_PASSEDROWS_H
#define LIB_RUNTIME_DATA_PASSEDROWS_H

#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// What a reader says of rows beside their values. Not thread-safe.
struct RowLog {
  struct BadRow {
    int64_t row; ///< counted from the log's first one
    std::string sentence, copied;
  };
  /// By row, `contentOf` what it consists of.
  AlignedVector<uint64_t> contents;
  /// Of what says how the rows are to be read; none where nothing does.
  std::optional<uint64_t> preface;
  /// In their order.
  std::vector<BadRow> bad;

  void clear() {
    contents.clear();
    preface.reset();
    bad.clear();
  }
};

/// Counts the rows of a group that a pass has met, good and bad, digests their
/// content, holds bad ones against a limit, and keeps the sentences of the
/// first few. Not thread-safe.
class PassedRows {
public:
  explicit PassedRows(int64_t badLimit) : badLimit(badLimit) {}
  /// Writes down what it is told, for somebody else to tell again: bad rows are
  /// not held against any limit. `log` outlives it.
  explicit PassedRows(RowLog &log) : badLimit(0), log(&log) {}

  /// Of a piece of what a row consists of; `before`: of the pieces before it.
  /// Their order and their bounds count.
  static uint64_t contentOf(const void *bytes, size_t size,
                            uint64_t before = 0);

  /// Forgets everything, as if `count` rows of that digest had been passed and
  /// none of them was bad; without them, a pass begins.
  void clear(int64_t count = 0, int64_t digest = 0);

  /// The next row is the sample of that number (pdl_draws), and those behind it
  /// are the next ones.
  void continueAt(int64_t sample) { nextSample = sample; }
  /// Passes on to the next row, of that content.
  void beginRow(uint64_t content) {
    ++rows;
    ++nextSample;
    addContent(content);
    if (log)
      log->contents.append(content);
  }
  /// Takes up the content of what says how the rows behind it are to be read.
  void addPreface(uint64_t content) {
    addContent(content);
    if (log)
      log->preface = content;
  }

  /// Rows passed, with the current one.
  int64_t count() const { return rows; }
  /// The current row, from 0.
  int64_t current() const { return rows - 1; }
  /// The number of the current row as a sample.
  int64_t currentSample() const { return nextSample - 1; }
  /// Of everything since the begin of the pass, from 0 to 2^63 - 1; 0 of
  /// nothing.
  int64_t digest() const { return contentDigest; }

  /// Notes that the current row could not be parsed; an error once the limit is
  /// passed. `copied`: the cell that is to stand beside its predictions.
  Status addBad(const std::string &sentence, std::string_view copied);
  int64_t badCount() const { return bad; }
  const std::vector<std::string> &badSentences() const { return sentences; }
  /// By bad row before `row`, the cells that are not empty; it forgets them.
  std::map<int64_t, std::string> takeCopiedCells(int64_t row);

private:
  void addContent(uint64_t content);

  int64_t badLimit;
  RowLog *log = nullptr;
  int64_t rows = 0;
  int64_t nextSample = 0;
  int64_t contentDigest = 0;
  int64_t bad = 0;
  std::vector<std::string> sentences;
  std::map<int64_t, std::string> copiedCells;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_PASSEDROWS_H
