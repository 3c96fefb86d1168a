//===- RecordStream.h - The rows of a group, over all its files -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RECORDSTREAM_H
#define LIB_RUNTIME_DATA_RECORDSTREAM_H

#include "Data/CommonHeader.h"
#include "Data/RecordReader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pdlrt {

/// The selected rows that belong to one group, in order: steps 1 and 2 of
/// BatchSource.h. Not thread-safe.
class RecordStream {
public:
  RecordStream(const RecordReaderOptions &options, int32_t groups,
               int32_t group)
      : options(options), groups(groups), group(group) {}

  /// Finds out which rows of which file belong to the group, and opens its
  /// first file.
  Status open();
  /// Goes back to the first row. Files that can be read but once are not read
  /// again: an error, unless nothing was read yet. So is a file whose size is
  /// not that of before: each pass is over the same rows.
  Status rewind();

  /// Where the next row of the group is, behind one of them, or those of other
  /// groups before it; without a digest.
  WindowStart place() const;
  /// Goes on there, from the begin of the pass; false where there is none such.
  Expected<bool> moveTo(const WindowStart &start);

  /// Passes the next `count` rows of the group; appends the good ones to
  /// `into` unless it is null. Returns how many were passed: fewer than
  /// `count` only at the end, or where `RecordReaderOptions::wait` is late.
  Expected<int64_t> advance(int64_t count, RecordColumns *into,
                            PassedRows &passedRows);

private:
  /// The selected rows of one file.
  struct Segment {
    int32_t file;
    int64_t begin, end;
  };
  Expected<std::vector<int64_t>> countRows() const;
  Status checkSizes();
  Status checkHeaders();
  Expected<bool> openSegment();
  Expected<std::unique_ptr<RecordReader>> openFile(int32_t file);
  int64_t rowsOfOtherGroups() const;
  bool wouldWait() const;

  RecordReaderOptions options;
  int32_t groups, group;
  CommonHeader headers;
  /// Fewer files than groups: blocks of rows go to the groups in turn.
  bool dealsBlocks = false;
  std::vector<Segment> segments;
  size_t nextSegment = 0;
  std::unique_ptr<RecordReader> reader;
  int64_t remainingInSegment = 0;
  /// The number of the reader's next row as a sample (pdl_draws).
  int64_t nextSample = 0;
  /// Whether a row was passed since the first segment was opened.
  bool hasMoved = true;
  /// By file: its bytes when the stream was opened; none for what is no regular
  /// file.
  std::vector<std::optional<std::uintmax_t>> sizes;
  /// By file: whether it is a pipe or a device that was opened.
  std::vector<char> isSpent;
  int64_t selectedRow = 0; ///< over all files; counts only if dealsBlocks
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDSTREAM_H
