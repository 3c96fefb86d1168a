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
#include "pdlrt/Data/EpochRest.h"
#include "pdlrt/Data/PartitionPlaces.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pdlrt {

/// Number of low bits in a sample number for the row in its file. The upper
/// bits are the file's number.
inline constexpr int sampleRowBits = 40;
inline int64_t fileOfSample(int64_t sample) { return sample >> sampleRowBits; }
inline int64_t rowOfSample(int64_t sample) {
  return sample & ((int64_t(1) << sampleRowBits) - 1);
}
/// Returns the sample number of row `row`, from 0, of a message whose first row
/// has number `first`. Rows of one message have different numbers. Those of
/// messages with near offsets hardly ever meet, because multiples of the golden
/// ratio are far from each other.
inline int64_t sampleOfMessageRow(int64_t first, int64_t row) {
  constexpr uint64_t goldenStep = 0x9E3779B97F; // 2^40 / 1.618...
  return (fileOfSample(first) << sampleRowBits) |
         rowOfSample(int64_t(uint64_t(first) + uint64_t(row) * goldenStep));
}

/// The selected rows that belong to one group, in order: steps 1 and 2 of
/// BatchSource.h. Not thread-safe.
class RecordStream {
public:
  RecordStream(const RecordReaderOptions &options, int32_t groups,
               int32_t group)
      : options(options), groups(groups), group(group) {}

  /// Determines which rows of which file belong to the group, and opens its
  /// first file.
  Status open();
  /// Returns to the first row: of `from` if it is given, otherwise of all
  /// selected rows. Returns an error for files that can be read only once,
  /// unless nothing was read yet. Also returns an error if a file's size has
  /// changed, because each pass must read the same rows.
  Status rewind(std::shared_ptr<const EpochRest> from = nullptr);
  /// Changes to the order of the files in another epoch
  /// (`DataOptions::shuffleFiles`). Call `rewind` next, except before `open`.
  void setEpoch(int64_t newEpoch);
  /// Changes to the rows of another group. Call `rewind` next.
  void setGroup(int32_t ofGroups, int32_t newGroup);

  /// Returns the position of the next row, without a digest. The position is
  /// either after a row of the group, or before rows of other groups that
  /// precede it.
  WindowStart place() const;
  /// Continues at that position, from the start of the pass. Returns false if
  /// there is no such position.
  Expected<bool> moveTo(const WindowStart &start);

  /// Returns true if all files are partitions of a topic without end. Their
  /// rows are read together (KafkaRows.h), and the position is `places`.
  bool isEndless() const { return endless; }
  /// Returns the places of the group's partitions after the rows that were
  /// read.
  PartitionPlaces places() const;
  /// Continues at those places, from the start of the pass. Returns false if
  /// they are not of the group's partitions.
  bool moveTo(const PartitionPlaces &places);

  /// Reads the next `count` rows of the group. If `into` is not null, appends
  /// the good ones. Returns the number of rows, which is less than `count` only
  /// at the end, or if `RecordReaderOptions::wait` is late.
  Expected<int64_t> advance(int64_t count, RecordColumns *into,
                            PassedRows &passedRows);

  /// Consecutive rows of one file, of any groups.
  struct Stretch {
    int64_t sample = 0; ///< Sample number (pdl_draws) of the first row.
    int64_t rows = 0;   ///< Maximum number of rows; 0: none remain.
  };
  /// Returns the position of the next row and opens its file.
  Expected<Stretch> nextStretch();
  /// Reads up to `count` rows of the next stretch, of any groups. If `into` is
  /// not null, appends the good ones. `passedRows`: null if the rows are not
  /// counted. Returns less than `count` only at the end of the file.
  Expected<int64_t> advanceHere(int64_t count, RecordColumns *into,
                                PassedRows *passedRows);
  /// Returns the rows of the group from the next one on. If groups share files,
  /// returns the rows of all groups.
  std::vector<RowRun> rowsAhead() const;

private:
  using Segment = RowRun;
  Expected<std::vector<int64_t>> countRows() const;
  Status findSelected();
  Status checkShared(int64_t fileCount) const;
  Status checkShuffle() const;
  Status divide();
  std::vector<int64_t> placesOfFiles() const;
  void leaveSegment(bool fileIsOver);
  bool isIn(int64_t file, int64_t row) const;
  Status checkSizes();
  Status checkHeaders();
  Expected<bool> openSegment();
  void divideEndless();
  Expected<bool> openEndless();
  Expected<std::unique_ptr<RecordReader>> openFile(int32_t file);
  int64_t rowsOfOtherGroups() const;
  bool wouldWait() const;

  RecordReaderOptions options;
  int32_t groups, group;
  int64_t epoch = 0;
  CommonHeader headers;
  /// True if there are fewer files than groups: blocks of rows are assigned to
  /// the groups in turn.
  bool dealsBlocks = false;
  /// The selected rows of all files, and the rows of the running pass.
  std::vector<Segment> selected;
  std::shared_ptr<const EpochRest> rest;
  std::vector<Segment> segments;
  size_t nextSegment = 0;
  std::unique_ptr<RecordReader> reader;
  int64_t remainingInSegment = 0;
  /// Sample number (pdl_draws) of the reader's next row. At the end of a
  /// segment, the reader stays open for the file's next segment.
  int64_t nextSample = 0;
  /// True if a row was read since the first segment was opened.
  bool hasMoved = true;
  /// Indexed by file: size when the stream was opened; none if it is not a
  /// regular file.
  std::vector<std::optional<std::uintmax_t>> sizes;
  /// Indexed by file: true if it is a pipe or a device that was opened.
  std::vector<char> isSpent;
  bool endless = false;
  /// If endless: places at which the group's partitions start.
  std::vector<StartPlace> startPlaces;
  int64_t selectedRow = 0; ///< Over all files; valid only if dealsBlocks.
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDSTREAM_H
