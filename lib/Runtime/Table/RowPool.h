//===- RowPool.h - Rows by number -------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are in regions (RowLayout.h), which never move. A row's number
// identifies its region and its position in it. The regions of all pools of a
// table come from one memory.
//
// An erased row may still be used by threads that found it before. Its memory
// is reused after the second following quiescent point.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_ROWPOOL_H
#define LIB_RUNTIME_TABLE_ROWPOOL_H

#include "pdlrt/Core/AddressBlocks.h"
#include "pdlrt/Table/RowLayout.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace pdlrt {

/// The regions of a table.
class RowMemory {
public:
  explicit RowMemory(const RowLayout &layout);
  RowMemory(const RowMemory &) = delete;
  RowMemory &operator=(const RowMemory &) = delete;

  /// Returns a region, zeroed unless it was used before. Throws std::bad_alloc.
  /// Thread-safe.
  char *takeRegion();
  /// Returns regions of `takeRegion` to this memory. On std::bad_alloc, nothing
  /// has changed. Thread-safe.
  void giveRegions(std::span<char *const> regions);
  /// Returns the bytes of all regions. Thread-safe.
  size_t memoryBytes() const;

  const RowLayout layout;
  /// Number of bits of a row's number that are its position in the region.
  const int regionShift;

private:
  mutable std::mutex mutex;
  AddressBlocks blocks;
  std::vector<char *> unused;
};

/// Allocates rows. Not thread-safe, except for `at`.
class RowPool {
public:
  RowPool() = default;
  RowPool(const RowPool &) = delete;
  RowPool &operator=(const RowPool &) = delete;

  /// Returns the number of an unused row, which the next `take` allocates. On
  /// std::bad_alloc, nothing has changed.
  uint64_t reserve(RowMemory &memory);
  void take();
  /// Returns the address of a row that was allocated by this thread, or by a
  /// thread with which this one has synchronized since.
  char *at(const RowMemory &memory, uint64_t row) const {
    return regions.load(std::memory_order_acquire)[row >> memory.regionShift] +
           memory.layout.offsetOf(row &
                                  ((uint32_t(1) << memory.regionShift) - 1));
  }
  /// Reserves capacity for `count` more erased rows. Throws std::bad_alloc.
  void reserveErased(size_t count);
  /// Erases an allocated row, after `reserveErased`.
  void erase(uint32_t row) { erased.push_back(row); }
  /// Allows reuse of rows that were erased before the last call. Returns true
  /// if more rows wait for the next call. Allocates nothing.
  bool quiesce();
  /// Returns all regions if no row is allocated or waits for a quiescent point.
  /// On std::bad_alloc, nothing has changed.
  void giveBack(RowMemory &memory);

  /// Returns the memory of the lists.
  size_t memoryBytes() const;

private:
  /// The first row that was never used.
  uint64_t fresh = 0;
  /// Number of rows that are allocated, or wait for a quiescent point.
  size_t inUse = 0;
  /// Rows that can be reused, rows erased before the last quiescent point, and
  /// rows erased since.
  std::vector<uint32_t> free, leaving, erased;
  /// Older lists are kept: a thread that reads one finds the same regions in
  /// it.
  std::vector<std::unique_ptr<char *[]>> lists;
  size_t listSize = 0, regionCount = 0;
  std::atomic<char **> regions{nullptr};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_ROWPOOL_H
