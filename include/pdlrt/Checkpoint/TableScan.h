//===- TableScan.h - Reads all rows of a saved table ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the rows of a table in a checkpoint and its predecessors, in bounded
// memory, for tools that show or search them. All numbers are converted to
// double, which is exact for every type of a table.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_TABLESCAN_H
#define PDLRT_CHECKPOINT_TABLESCAN_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// A row of a table, or a key that waits for admission.
struct ScannedRow {
  int64_t key = 0;
  /// True for a key that has no row yet. Then `count` is set, and all other
  /// numbers except `age` are empty.
  bool isWaiting = false;
  /// Occurrences of a waiting key. If the table admits by score: 1/16384ths of
  /// the score that a key needs.
  int64_t count = 0;
  /// Number of periods that have begun since the last update of the row, or the
  /// last occurrence of a waiting key. Nullopt if the table has no periods.
  std::optional<int64_t> age = {};
  /// Weighted sum of row slots. Nullopt if the model defines no scores.
  std::optional<double> score = {};
  std::vector<double> values = {};
  /// Elements of each slot that was read, indexed like
  /// `CheckpointSymbol::slots`. Slots that were not read are empty.
  std::vector<std::vector<double>> slots = {};
  /// Path of the file that contains the row; empty for a waiting key.
  std::string file = {};
};

/// Reads a table shard by shard. The order of rows is (shard, key). Not
/// thread-safe.
class TableScan {
public:
  /// Maximum number of bytes of elements that `forEach` reads ahead.
  static constexpr size_t defaultMemory = size_t(64) << 20;

  /// Finds the rows of the table `symbol`. Reads all keys, one part at a time.
  /// Returns an error if a part does not match the manifest. The checkpoint
  /// must outlive the result. Throws std::bad_alloc.
  static Expected<TableScan> open(const Checkpoint &checkpoint,
                                  const CheckpointSymbol &symbol);
  TableScan(TableScan &&) noexcept;
  TableScan &operator=(TableScan &&) noexcept;
  ~TableScan();

  const CheckpointSymbol &symbol() const;
  /// Returns true if rows have an age.
  bool hasPeriods() const;
  /// Returns the weights of row slots in the score of a row; empty if the model
  /// defines no scores.
  const std::vector<std::pair<std::string, double>> &scoreWeights() const;
  /// Returns true if counts of waiting keys are fractions of a score.
  bool waitsByScore() const;

  /// Calls visit(row) for each row, and after the rows of a shard for each of
  /// its waiting keys. Of the slots, reads only row slots. Stops at the first
  /// error. Holds the keys of one shard, and about `memory` bytes of elements
  /// or one row of each file if that is more. Throws std::bad_alloc.
  Status forEach(const std::function<Status(const ScannedRow &row)> &visit,
                 size_t memory = defaultMemory) const;
  /// Returns the row or waiting key `key` with all slots; nullopt if the table
  /// has neither. Throws std::bad_alloc.
  Expected<std::optional<ScannedRow>> find(int64_t key) const;

private:
  class Reader;
  explicit TableScan(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader;
};

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_TABLESCAN_H
