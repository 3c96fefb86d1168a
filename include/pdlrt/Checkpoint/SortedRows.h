//===- SortedRows.h - Iterates over the rows of a table by key --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files of a checkpoint contain the rows of each shard sorted by key. This
// class merges the shards of a table in bounded memory. The table need not fit
// into memory, and no temporary files are written.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_SORTEDROWS_H
#define PDLRT_CHECKPOINT_SORTEDROWS_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// Order of keys.
enum class KeyOrder {
  Signed,  ///< As signed numbers: -1 comes before 0.
  Unsigned ///< As unsigned numbers: -1 comes last.
};

/// Type and number of the elements of a row.
struct RowElements {
  TensorType type = TensorType::F32;
  int64_t width = 0;

  size_t bytes() const { return size_t(width) * tensorElementSize(type); }
  bool operator==(const RowElements &) const = default;
};

/// Iterates over the rows that a table has in a checkpoint and its
/// predecessors. Not thread-safe.
class SortedRows {
public:
  /// Opens the values of `symbol` if `part` is 0, otherwise its slot `part` -
  /// 1. Reads all keys. Returns an error if keys are out of order, or if a
  /// tensor does not match the manifest. Uses at most `memory` bytes, or the
  /// memory for one row of each shard if that is more. The checkpoint must
  /// outlive the result. Throws std::bad_alloc.
  static Expected<SortedRows> open(const Checkpoint &checkpoint,
                                   const CheckpointSymbol &symbol, size_t part,
                                   KeyOrder order, size_t memory);
  SortedRows(SortedRows &&) noexcept;
  SortedRows &operator=(SortedRows &&) noexcept;
  ~SortedRows();

  /// Returns the type and number of elements per row. Elements have 16 bits if
  /// the table stores them in 16 bits.
  const RowElements &elements() const;
  /// Advances to the next row. Returns false if there is none.
  Expected<bool> next();
  /// Return the key and the values of the current row. The values are valid
  /// until the next call of `next`. They are not aligned.
  int64_t key() const;
  const std::byte *values() const;

private:
  class Merge;
  explicit SortedRows(std::unique_ptr<Merge> merge);
  std::unique_ptr<Merge> merge;
};

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_SORTEDROWS_H
