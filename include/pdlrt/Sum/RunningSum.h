//===- RunningSum.h - Incremental sums in a fixed order ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums the gradients of all replicas for one update, in a fixed order: first
// over the workers of each group, in their order, and then over the groups, in
// their order. The first present contribution is copied, later ones are added,
// and absent ones are skipped. Messages have sums and weights, never means. So
// the result is bitwise equal, whether replicas are in one process or in
// several.
//
// A server adds each contribution when it and all contributions before it in
// the order have arrived. So when the last contribution arrives, little is left
// to add.
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

/// A sum in the order of the calls of `add`. Owns the memory of the result. A
/// gradient that only one part has is not copied; the result then refers to the
/// memory of this part. Results do not depend on the number of threads. Not
/// thread-safe.
class RunningSum {
public:
  /// Starts an empty sum.
  void begin(std::span<const GradientBlock> blocks);
  /// Adds `part` if it is present. The memory of `part` must stay valid until
  /// the next `begin`. Returns an error if a block has more than 2^31 keys.
  /// Throws std::bad_alloc. After an error or exception, only `begin` may be
  /// called.
  Status add(const PartialSum &part, Scheduler &scheduler);
  /// Ends the sum, and returns it with dense blocks that are aligned to
  /// PDL_BUFFER_ALIGNMENT. The result is valid until the next `begin`. Throws
  /// std::bad_alloc.
  const PartialSum &finish(Scheduler &scheduler);
  /// Sums parts that are all available; none may have `BlockGradient::pieces`.
  /// If only one part is present, the result refers to its memory, without a
  /// copy or alignment. Does not check that values are finite. The result is
  /// valid until the next call. Errors are those of `add`.
  Status assign(std::span<const GradientBlock> blocks,
                std::span<const PartialSum> parts, Scheduler &scheduler);
  /// Starts early sums for a later `assign`: before all parts are complete,
  /// `sumEarly` sums each dense block that all parts already have.
  void beginEarly(std::span<const GradientBlock> blocks);
  /// Sums dense block `index` on the threads of the calling task, and returns
  /// the sum. `parts` has the block's gradient in each part that will be
  /// present, in order; at least one. The next `assign` takes this sum and does
  /// not sum the block again. The result is valid as long as the result of
  /// `assign`. Thread-safe for different blocks. Throws std::bad_alloc.
  const void *sumEarly(const GradientBlock &block, size_t index,
                       std::span<const void *const> parts);
  /// Returns the sum, after `assign` or `finish`.
  const PartialSum &result() const { return sum; }
  /// Returns the index of the first block with a value that is not finite; -1
  /// if there is none. Call after `finish`.
  int32_t firstNonFinite() const;

private:
  /// Entry of the hash table from keys to their index in the lists of a block.
  /// It is in use if its `epoch` is the current one, so the table need not be
  /// cleared for each sum.
  struct Entry {
    int64_t key;
    uint32_t epoch;
    int32_t place;
  };
  struct BlockSum {
    AlignedBuffer dense;
    /// Result of `sumEarly`; null: none since `beginEarly`.
    const void *early = nullptr;
    std::vector<int64_t> keys;
    std::vector<void *> rows;
    std::vector<const void *> gradients;
    /// One entry for each key in `keys`; nonzero if its gradient is a sum in
    /// `values`.
    std::vector<char> owned;
    /// Memory for sums, one buffer for each added part. It holds the sums of
    /// keys that get their second gradient from this part.
    std::vector<AlignedBuffer> values;
    std::vector<Entry> table;
    uint32_t epoch = 0;
    /// Number of keys that are in the hash table.
    size_t entered = 0;
    /// Positions of the keys of the part that is being added: `places` has the
    /// index of each key in `keys`, and `slots` its index in `values`; -1:
    /// none.
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
  /// Sets `places` and `slots` for a part's keys, and appends new keys to the
  /// lists. Returns the number of new sums for which the part needs memory.
  static int32_t findPlaces(BlockSum &own, const BlockGradient &part);
  static void growTable(BlockSum &own, size_t keys);
  static int32_t *placeOf(BlockSum &own, int64_t key);

  std::span<const GradientBlock> blocks;
  /// True if the sum checks that values are finite.
  bool isWatched = true;
  PartialSum sum;
  std::vector<std::unique_ptr<BlockSum>> memory;
  size_t parts = 0;
};

} // namespace pdlrt

#endif // PDLRT_SUM_RUNNINGSUM_H
