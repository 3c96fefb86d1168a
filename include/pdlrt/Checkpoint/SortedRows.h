//===- SortedRows.h - The rows of a table by key, one by one ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of a checkpoint have the rows of each shard sorted by key. Merging the
// shards gives those of the table, in as little memory as one asks for: no
// table need fit into it, and nothing is written on the way.
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

/// How keys are compared.
enum class KeyOrder {
  Signed,  ///< as numbers: -1 comes before 0
  Unsigned ///< as the bytes of a key, the greatest first: -1 comes last
};

/// What a table has for each key: `width` elements of a type.
struct RowElements {
  TensorType type = TensorType::F32;
  int64_t width = 0;

  size_t bytes() const { return size_t(width) * tensorElementSize(type); }
  bool operator==(const RowElements &) const = default;
};

/// The rows that a table has in a checkpoint and in all that it follows. Not
/// thread-safe.
class SortedRows {
public:
  /// Of the values of `symbol` (part 0), or of its slot `part` - 1. All keys
  /// are read: an error where one is not in its place, or a tensor is not what
  /// the manifest says. `memory` bytes are used at most, or what a row of each
  /// shard takes. The checkpoint outlives it. Throws std::bad_alloc.
  static Expected<SortedRows> open(const Checkpoint &checkpoint,
                                   const CheckpointSymbol &symbol, size_t part,
                                   KeyOrder order, size_t memory);
  SortedRows(SortedRows &&) noexcept;
  SortedRows &operator=(SortedRows &&) noexcept;
  ~SortedRows();

  /// Of each row: of 16 bits where the table stores them so.
  const RowElements &elements() const;
  /// Goes on to the next row; false: there is none.
  Expected<bool> next();
  /// Of the row; the bytes are valid until the next call of `next`, and not
  /// aligned.
  int64_t key() const;
  const std::byte *values() const;

private:
  class Merge;
  explicit SortedRows(std::unique_ptr<Merge> merge);
  std::unique_ptr<Merge> merge;
};

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_SORTEDROWS_H
