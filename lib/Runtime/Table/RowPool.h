//===- RowPool.h - Rows by number -------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are in regions (RowLayout.h), which never move. The number of a row
// identifies its region and its position in the region. All pools of a table
// take their regions from one RowMemory.
//
// An erased row may still be used by threads that have found it before. Its
// memory is reused after the second quiescent point that follows.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_ROWPOOL_H
#define LIB_RUNTIME_TABLE_ROWPOOL_H

#include "pdlrt/Core/AddressBlocks.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Table/RowLayout.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// The regions of a table.
class RowMemory {
public:
  explicit RowMemory(const RowLayout &layout);
  RowMemory(const RowMemory &) = delete;
  RowMemory &operator=(const RowMemory &) = delete;

  /// Takes a region from this memory. It is filled with zeros, unless it was
  /// used before. Throws std::bad_alloc. Thread-safe.
  char *takeRegion();
  /// Gives regions back that `takeRegion` has returned. On std::bad_alloc,
  /// nothing has changed. Thread-safe.
  void giveRegions(std::span<char *const> regions);
  /// Returns the bytes of all regions. Thread-safe.
  size_t memoryBytes() const;

  const RowLayout layout;
  /// Number of low bits of a row's number. They are its position in the region.
  const int regionShift;

private:
  mutable Mutex mutex;
  AddressBlocks blocks PDLRT_GUARDED_BY(mutex);
  std::vector<char *> unused PDLRT_GUARDED_BY(mutex);
};

/// Allocates rows. Not thread-safe, except for `at`.
class RowPool {
public:
  RowPool() = default;
  RowPool(const RowPool &) = delete;
  RowPool &operator=(const RowPool &) = delete;

  /// Returns the number of an unused row. The next call of `take` allocates
  /// this row. On std::bad_alloc, nothing has changed.
  uint64_t reserve(RowMemory &memory);
  void take();
  /// Returns the address of a row. The row must have been allocated by this
  /// thread, or by a thread that has synchronized with this one since.
  char *at(const RowMemory &memory, uint64_t row) const {
    return regions.load(std::memory_order_acquire)[row >> memory.regionShift] +
           memory.layout.offsetOf(row &
                                  ((uint32_t(1) << memory.regionShift) - 1));
  }
  /// Reserves capacity for `count` more erased rows. Throws std::bad_alloc.
  void reserveErased(size_t count);
  /// Erases an allocated row, after `reserveErased`.
  void erase(uint32_t row) { erased.push_back(row); }
  /// Allows rows to be reused that were erased before the previous call of this
  /// function. Returns true if there are rows that the next call will allow to
  /// be reused. Allocates nothing.
  bool quiesce();
  /// Gives all regions back to `memory` if no row is in use: none is allocated,
  /// and none waits for a quiescent point. Otherwise does nothing. On
  /// std::bad_alloc, nothing has changed.
  void giveBack(RowMemory &memory);

  /// Returns the memory of the lists.
  size_t memoryBytes() const;

private:
  /// Number of the first row that was never allocated.
  uint64_t fresh = 0;
  /// Number of rows that are allocated or wait for a quiescent point to be
  /// reused.
  size_t inUse = 0;
  /// `free`: rows that can be reused. `leaving`: rows that were erased before
  /// the last quiescent point. `erased`: rows that were erased since.
  std::vector<uint32_t> free, leaving, erased;
  /// Lists of regions; `regions` points to the last one. Older lists are kept,
  /// because another thread may still read them. They contain the same regions,
  /// but fewer.
  std::vector<std::unique_ptr<char *[]>> lists;
  size_t listSize = 0, regionCount = 0;
  std::atomic<char **> regions{nullptr};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_ROWPOOL_H
