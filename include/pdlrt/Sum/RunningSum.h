//===- RunningSum.h - Sums that grow with each contribution -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the gradients of replicas become one update. Sums and weights travel,
// never means. The order is settled: the workers of a group are summed first,
// in order, then the groups, in order; the first contribution that is present
// is copied, later ones are added, absent ones are not added at all. So
// replicas in one process and replicas in many form the same bits.
//
// Part by part: a server that waits for trainers has added those that came, so
// that the last one costs no more than its own part. What is there already may
// be added at once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SUM_RUNNINGSUM_H
#define PDLRT_SUM_RUNNINGSUM_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Sum/Contribution.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// A sum in the order of `add`. Owns the memory of the result, which borrows
/// that of parts where there is nothing to add. Bits do not depend on the
/// scheduler. Not thread-safe.
class RunningSum {
public:
  /// Begins a sum without parts.
  void begin(std::span<const GradientBlock> blocks);
  /// Adds a part; does nothing if it is not present. Its memory must stay until
  /// the next `begin`. Fails if the keys of a block exceed 2^31; throws
  /// std::bad_alloc; after that only `begin` may follow.
  Status add(const Contribution &part, Scheduler &scheduler);
  /// Ends the sum: dense blocks are now aligned to PDL_BUFFER_ALIGNMENT. Throws
  /// std::bad_alloc. The result lives until the next `begin`.
  const Contribution &finish(Scheduler &scheduler);
  /// Sums parts that are all there, none of them in pieces. One that is alone
  /// is the result as it is: neither copied, nor aligned. Nothing is looked at
  /// for values that are not finite. The result lives until the next call.
  /// Errors as of `add`.
  Status assign(std::span<const GradientBlock> blocks,
                std::span<const Contribution> parts, Scheduler &scheduler);
  /// Before all parts of a later `assign` are there: each dense block of
  /// `blocks` may be summed when it is in all of them.
  void beginEarly(std::span<const GradientBlock> blocks);
  /// Sums that dense block, by the threads of the calling task. `parts`: the
  /// block of each part that will be present, in order; at least one. `assign`
  /// takes the result, which lives as long, and adds nothing to it. Calls for
  /// different blocks may come at once. Throws std::bad_alloc.
  const void *sumEarly(const GradientBlock &block, size_t index,
                       std::span<const void *const> parts);
  /// After `assign` or `finish`.
  const Contribution &result() const { return sum; }
  /// After `finish`: the first block with a value that is not finite; -1 if
  /// there is none.
  int32_t firstNonFinite() const;

private:
  /// Where a key is in the lists of a block; taken if its epoch is the
  /// current one.
  struct Entry {
    int64_t key;
    uint32_t epoch;
    int32_t place;
  };
  struct BlockSum {
    AlignedBuffer dense;
    /// What `sumEarly` gave since `beginEarly`.
    const void *early = nullptr;
    std::vector<int64_t> keys;
    std::vector<void *> rows;
    std::vector<const void *> gradients;
    /// By key: whether its gradient lies in `values`.
    std::vector<char> owned;
    /// By part: sums of keys that had one gradient before it.
    std::vector<AlignedBuffer> values;
    std::vector<Entry> table;
    uint32_t epoch = 0;
    /// How many of the keys are in the table.
    size_t entered = 0;
    /// By key of the part that is added: where it is in `keys`, and which place
    /// in `values` it takes; -1: none.
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
  /// Finds the places of a part's keys, new ones at the end of the lists;
  /// returns how many slots it takes.
  static int32_t findPlaces(BlockSum &own, const BlockGradient &part);
  static void growTable(BlockSum &own, size_t keys);
  static int32_t *placeOf(BlockSum &own, int64_t key);

  std::span<const GradientBlock> blocks;
  /// Whether values that are not finite are looked for.
  bool isWatched = true;
  Contribution sum;
  std::vector<std::unique_ptr<BlockSum>> memory;
  size_t parts = 0;
};

} // namespace pdlrt

#endif // PDLRT_SUM_RUNNINGSUM_H
