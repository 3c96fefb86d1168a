//===- EpochRest.h - The remaining rows of an epoch -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A training may resume in the middle of an epoch with another number of
// replicas. Then the rows that were not read yet are divided among the new
// replicas, in the way in which the rows of an epoch are divided. So each row
// is read exactly once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_EPOCHREST_H
#define PDLRT_DATA_EPOCHREST_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Data/PartitionPlaces.h"

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

/// The rows of an epoch that had not been read when the epoch was divided among
/// other replicas.
struct EpochRest {
  /// The remaining rows. Runs are in ascending order and disjoint.
  std::vector<RowRun> runs;
  /// Rows at which reading can start, ascending by file. A file has at most
  /// one, at or before its first run.
  std::vector<StartPlace> places;
  /// Number of shuffle windows before the division, of the group that had the
  /// most. Windows of the rest are numbered from here, because the number of a
  /// window determines how it is shuffled.
  int64_t windows = 0;
  /// Number of steps of the training when the rows were divided.
  int64_t steps = 0;
  bool operator==(const EpochRest &) const = default;
};

/// Division of an epoch among groups of replicas, and the progress of the
/// groups.
struct DividedEpoch {
  /// Position of each group.
  std::vector<DataPosition> positions;
  /// The rows that were divided; null: all rows of the epoch.
  std::shared_ptr<const EpochRest> rest;
  /// Number of files of this division if it is not the current number
  /// (`DataOptions::filesInTurn`); otherwise 0.
  int64_t files = 0;
};

/// Returns the rows that no group has returned yet. Reads the current windows
/// of all groups again, and returns an error if their content has changed.
/// Files that can be read only once, such as pipes, are not read. For them,
/// returns an error if groups share files, or if the position of a group does
/// not contain the next row (`DataPosition::next`).
Expected<EpochRest> restOfEpoch(const DataOptions &options,
                                const pdl_descriptor &descriptor,
                                const pdl_program &program,
                                const DividedEpoch &divided);

} // namespace pdlrt

#endif // PDLRT_DATA_EPOCHREST_H
