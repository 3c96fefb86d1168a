//===- PassedRows.h - What a pass has met so far ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_PASSEDROWS_H
#define LIB_RUNTIME_DATA_PASSEDROWS_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Counts the rows of a group that a pass has met, good and bad, digests their
/// content, holds bad ones against a limit, and keeps the sentences of the
/// first few. Not thread-safe.
class PassedRows {
public:
  explicit PassedRows(int64_t badLimit) : badLimit(badLimit) {}

  /// Forgets everything: a pass begins.
  void clear();

  /// The next row is the sample of that number (pdl_draws), and those behind it
  /// are the next ones.
  void continueAt(int64_t sample) { nextSample = sample; }
  /// Passes on to the next row.
  void beginRow() {
    ++rows;
    ++nextSample;
  }
  /// Takes up a piece of what the row consists of, or of what says how it is to
  /// be read.
  void addContent(const void *bytes, size_t size);

  /// Rows passed, with the current one.
  int64_t count() const { return rows; }
  /// The current row, from 0.
  int64_t current() const { return rows - 1; }
  /// The number of the current row as a sample.
  int64_t currentSample() const { return nextSample - 1; }
  /// Of everything since the begin of the pass, from 0 to 2^63 - 1; 0 of
  /// nothing.
  int64_t digest() const { return int64_t(contentDigest >> 1); }

  /// Notes that the current row could not be parsed; an error once the limit is
  /// passed. `copied`: the cell that is to stand beside its predictions.
  Status addBad(const std::string &sentence, std::string_view copied);
  int64_t badCount() const { return bad; }
  const std::vector<std::string> &badSentences() const { return sentences; }
  /// Of a bad row; empty where there is none.
  std::string copiedCell(int64_t row) const;

private:
  int64_t badLimit;
  int64_t rows = 0;
  int64_t nextSample = 0;
  uint64_t contentDigest = 0;
  int64_t bad = 0;
  std::vector<std::string> sentences;
  std::map<int64_t, std::string> copiedCells;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_PASSEDROWS_H
