//===- EpochRest.h - The remaining rows of an epoch -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A training may resume in the middle of an epoch with other replicas. The
// remaining rows are then divided among the new replicas as if they were an
// epoch, so that each row is read exactly once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_EPOCHREST_H
#define PDLRT_DATA_EPOCHREST_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace pdlrt {

/// Rows [begin, end) of a file.
struct RowRun {
  static constexpr int64_t endOfFile = std::numeric_limits<int64_t>::max();
  int64_t file = 0; ///< Index in `DataOptions::files`.
  int64_t begin = 0;
  int64_t end = endOfFile;
  bool operator==(const RowRun &) const = default;
};

/// The rows that remained of an epoch when it was divided again.
struct EpochRest {
  /// A row of a file whose byte position is known.
  struct Place {
    int64_t file = 0, row = 0;
    int64_t byte = 0; ///< Byte in the decompressed text.
    int64_t line = 0; ///< Line at that byte, from 1.
    bool operator==(const Place &) const = default;
  };
  /// Ascending and disjoint.
  std::vector<RowRun> runs;
  /// Ascending by file, with at most one place per file. It is at or before the
  /// file's first run.
  std::vector<Place> places;
  /// Number of shuffle windows of a group that were numbered before the
  /// division.
  int64_t windows = 0;
  /// Steps of the training when the rows were divided.
  int64_t steps = 0;
  bool operator==(const EpochRest &) const = default;
};

/// Progress of the groups among which an epoch is divided.
struct DividedEpoch {
  /// One position for each group.
  std::vector<DataPosition> positions;
  /// The rows that were divided; null: all rows of the epoch.
  std::shared_ptr<const EpochRest> rest;
  /// Previous number of files, if it has changed (`DataOptions::filesInTurn`);
  /// 0: unchanged.
  int64_t files = 0;
};

/// Returns the rows that no group has returned. Reads the running windows of
/// all groups again, and returns an error if their content has changed. Data
/// that can be read only once are not read. For such data, each group must have
/// its own files and its position must contain the next row; otherwise returns
/// an error.
Expected<EpochRest> restOfEpoch(const DataOptions &options,
                                const pdl_descriptor &descriptor,
                                const pdl_program &program,
                                const DividedEpoch &divided);

} // namespace pdlrt

#endif // PDLRT_DATA_EPOCHREST_H
