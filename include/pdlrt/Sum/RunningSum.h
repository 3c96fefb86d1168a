//===- RunningSum.h - Incremental sums in a fixed order ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sum of the gradients of replicas in one update. Messages have sums and
// weights, never means. The order is fixed: first the workers of each group are
// summed, in order, then the groups, in order. The first present contribution
// is copied, later ones are added; absent ones are skipped. The result is
// therefore bitwise equal for replicas in one process and in several.
//
// The sum is incremental: a server that waits for trainers adds contributions
// as they arrive, so the last one only costs its own addition.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SUM_RUNNINGSUM_H
#define PDLRT_SUM_RUNNINGSUM_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Sum/PartialSum.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// A sum in the order of `add`. Owns the memory of the result, which refers to
/// the memory of parts if nothing was added. Results do not depend on the
/// scheduler. Not thread-safe.
class RunningSum {
public:
  /// Starts an empty sum.
  void begin(std::span<const GradientBlock> blocks);
  /// Adds a part if it is present. Its memory must stay valid until the next
  /// `begin`. Fails if a block has more than 2^31 keys. Throws std::bad_alloc.
  /// After a failure, only `begin` may be called.
  Status add(const PartialSum &part, Scheduler &scheduler);
  /// Ends the sum, and aligns dense blocks to PDL_BUFFER_ALIGNMENT. Throws
  /// std::bad_alloc. The result is valid until the next `begin`.
  const PartialSum &finish(Scheduler &scheduler);
  /// Sums parts that are all available, none of them in pieces. A single part
  /// is the result itself: it is neither copied nor aligned. Values are not
  /// checked for being finite. The result is valid until the next call. Errors
  /// are those of `add`.
  Status assign(std::span<const GradientBlock> blocks,
                std::span<const PartialSum> parts, Scheduler &scheduler);
  /// Starts an early sum, before all parts of a later `assign` are available:
  /// each dense block of `blocks` may be summed when all parts have it.
  void beginEarly(std::span<const GradientBlock> blocks);
  /// Sums this dense block on the threads of the calling task. `parts`: the
  /// block of each part that will be present, in order; at least one. A later
  /// `assign` uses the result without adding to it; the result is valid as long
  /// as that of `assign`. Thread-safe for different blocks. Throws
  /// std::bad_alloc.
  const void *sumEarly(const GradientBlock &block, size_t index,
                       std::span<const void *const> parts);
  /// Returns the sum, after `assign` or `finish`.
  const PartialSum &result() const { return sum; }
  /// Returns the first block with a value that is not finite, after `finish`;
  /// -1 if there is none.
  int32_t firstNonFinite() const;

private:
  /// Position of a key in the lists of a block. The entry is used if its epoch
  /// is the current one.
  struct Entry {
    int64_t key;
    uint32_t epoch;
    int32_t place;
  };
  struct BlockSum {
    AlignedBuffer dense;
    /// Result of `sumEarly` since `beginEarly`.
    const void *early = nullptr;
    std::vector<int64_t> keys;
    std::vector<void *> rows;
    std::vector<const void *> gradients;
    /// Indexed by key: nonzero if its gradient is in `values`.
    std::vector<char> owned;
    /// Indexed by part: sums of keys that had only one gradient before.
    std::vector<AlignedBuffer> values;
    std::vector<Entry> table;
    uint32_t epoch = 0;
    /// Number of keys that are in the table.
    size_t entered = 0;
    /// Indexed by key of the part that is being added: its index in `keys`, and
    /// its index in `values`; -1: none.
    std::vector<int32_t> places, slots;
    std::atomic<bool> finite = true;
  };
  void makeRoom(size_t blockCount);
  void forgetEarly();
  void addDense(const GradientBlock &block, BlockSum &own,
                BlockGradient &result, const BlockGradient &part,
                Scheduler &scheduler);
  Status addRows(const GradientBlock &block, BlockSum &own,
                 const BlockGradient &part, Scheduler &scheduler);
  /// Finds the positions of a part's keys, and appends new keys to the lists.
  /// Returns the number of slots that the part needs.
  static int32_t findPlaces(BlockSum &own, const BlockGradient &part);
  static void growTable(BlockSum &own, size_t keys);
  static int32_t *placeOf(BlockSum &own, int64_t key);

  std::span<const GradientBlock> blocks;
  /// True if values are checked for being finite.
  bool isWatched = true;
  PartialSum sum;
  std::vector<std::unique_ptr<BlockSum>> memory;
  size_t parts = 0;
};

} // namespace pdlrt

#endif // PDLRT_SUM_RUNNINGSUM_H
