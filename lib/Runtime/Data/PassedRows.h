//===- PassedRows.h - Counts and digests the rows of a pass -----*- C++ -*-===//
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

/// Output of a reader about rows, in addition to their values. Not thread-safe.
struct RowLog {
  struct BadRow {
    int64_t row; ///< Counted from the first row of the log.
    std::string message, copied;
  };
  /// Indexed by row: `contentOf` the row's text or values.
  AlignedVector<uint64_t> contents;
  /// Content digest of the text that determines how the rows are read; none if
  /// there is no such text.
  std::optional<uint64_t> preface;
  /// In row order.
  std::vector<BadRow> bad;

  void clear() {
    contents.clear();
    preface.reset();
    bad.clear();
  }
};

/// Counts the good and bad rows of a group that a pass has read, digests their
/// content, enforces the limit of bad rows, and keeps the messages about the
/// first few. Not thread-safe.
class PassedRows {
public:
  explicit PassedRows(int64_t badLimit) : badLimit(badLimit) {}
  /// Records all calls in `log`, so that they can be repeated later. Enforces
  /// no limit of bad rows. `log` must outlive this object.
  explicit PassedRows(RowLog &log) : badLimit(0), log(&log) {}

  /// Returns the digest of one piece of a row's content. `before`: the digest
  /// of the previous pieces. The order and the bounds of pieces matter.
  static uint64_t contentOf(const void *bytes, size_t size,
                            uint64_t before = 0);

  /// Resets the state to `count` good rows with that digest. Without arguments,
  /// a pass begins.
  void clear(int64_t count = 0, int64_t digest = 0);

  /// Sets the sample number (pdl_draws) of the next row; later rows follow
  /// consecutively.
  void continueAt(int64_t sample) { nextSample = sample; }
  /// Advances to the next row, with that content digest.
  void beginRow(uint64_t content) {
    ++rows;
    ++nextSample;
    addContent(content);
    if (log)
      log->contents.append(content);
  }
  /// Adds the content digest of text that determines how later rows are read.
  void addPreface(uint64_t content) {
    addContent(content);
    if (log)
      log->preface = content;
  }

  /// Returns the number of rows so far, including the current one.
  int64_t count() const { return rows; }
  /// Returns the index of the current row, from 0.
  int64_t current() const { return rows - 1; }
  /// Returns the sample number of the current row.
  int64_t currentSample() const { return nextSample - 1; }
  /// Returns the digest of all content since the start of the pass, from 0 to
  /// 2^63 - 1; 0 if there was none.
  int64_t digest() const { return contentDigest; }

  /// Records that the current row could not be parsed. Returns an error if the
  /// limit is exceeded. `copied`: the text that predictions copy from the row.
  Status addBad(const std::string &message, std::string_view copied);
  int64_t badCount() const { return bad; }
  const std::vector<std::string> &badMessages() const { return messages; }
  /// Returns and removes the copied texts of bad rows before `row`, if not
  /// empty.
  std::map<int64_t, std::string> takeCopiedCells(int64_t row);

private:
  void addContent(uint64_t content);

  int64_t badLimit;
  RowLog *log = nullptr;
  int64_t rows = 0;
  int64_t nextSample = 0;
  int64_t contentDigest = 0;
  int64_t bad = 0;
  std::vector<std::string> messages;
  std::map<int64_t, std::string> copiedCells;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_PASSEDROWS_H
