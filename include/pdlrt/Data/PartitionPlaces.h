//===- PartitionPlaces.h - Positions in topics without end ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group that reads a topic without end has a place in each of its partitions.
// They are part of its `DataPosition`.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_PARTITIONPLACES_H
#define PDLRT_DATA_PARTITIONPLACES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pdlrt {

struct DataPosition;

/// A place in a file or in a partition at which reading can start.
///
/// In a file, it is row `row`. In a partition, `byte` is the offset of the
/// message of the next row plus 1, and `line` the number of the row in this
/// message, from 1. If `byte` is 0, nothing was read yet. `row` is the highest
/// timestamp of the messages that were read, in milliseconds since 1970, or 0
/// if no message had one.
struct StartPlace {
  int64_t file = 0; ///< Index in `DataOptions::files`.
  int64_t row = 0;
  int64_t byte = 0; ///< Byte in the decompressed text.
  int64_t line = 0; ///< Line at that byte, from 1.
  bool operator==(const StartPlace &) const = default;
};

/// The place of each partition of a group, ascending by file. Immutable. Copies
/// share the places.
class PartitionPlaces {
public:
  /// No places: those of a group that reads files.
  PartitionPlaces() = default;
  explicit PartitionPlaces(std::vector<StartPlace> places) {
    if (!places.empty())
      shared =
          std::make_shared<const std::vector<StartPlace>>(std::move(places));
  }
  const StartPlace *begin() const { return shared ? shared->data() : nullptr; }
  const StartPlace *end() const { return begin() + size(); }
  size_t size() const { return shared ? shared->size() : 0; }
  bool empty() const { return !shared; }
  /// Compares the places, whether they are shared or not.
  bool operator==(const PartitionPlaces &other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

private:
  std::shared_ptr<const std::vector<StartPlace>> shared;
};

/// Returns the event time of a position: the highest timestamp of the messages
/// before it, in milliseconds since 1970. Returns 0 if no message has one.
int64_t eventTimeOf(const DataPosition &position);

/// Returns the highest event time of several positions, or 0.
int64_t eventTimeOf(const std::vector<DataPosition> &positions);

} // namespace pdlrt

#endif // PDLRT_DATA_PARTITIONPLACES_H
