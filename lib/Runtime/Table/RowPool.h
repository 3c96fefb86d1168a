//===- RowPool.h - The rows of some shards, by number -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows lie in regions (RowLayout.h), which never move; a row's number says
// which region and where in it. The regions of all pools of a table come from
// one memory.
//
// A row that is erased may still be in the hands of who found it before. It is
// used again behind the second quiescent point that follows.
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

  /// A region, zero unless somebody has had it. Throws std::bad_alloc.
  /// Thread-safe.
  char *takeRegion();
  /// Takes back what `takeRegion` gave. Throws std::bad_alloc, and nothing has
  /// changed. Thread-safe.
  void giveRegions(std::span<char *const> regions);
  /// Thread-safe.
  size_t memoryBytes() const;

  const RowLayout layout;
  /// Bits of a row's number that say where in its region it stands.
  const int regionShift;

private:
  mutable std::mutex mutex;
  AddressBlocks blocks;
  std::vector<char *> unused;
};

/// Hands out rows. One thread at a time, but for `at`.
class RowPool {
public:
  RowPool() = default;
  RowPool(const RowPool &) = delete;
  RowPool &operator=(const RowPool &) = delete;

  /// The number of a row that nobody uses, which the next `take` takes. Throws
  /// std::bad_alloc, and nothing has changed.
  uint64_t reserve(RowMemory &memory);
  void take();
  /// Where a row is that was handed out to this thread, or to one that this
  /// thread has synchronised with since.
  char *at(const RowMemory &memory, uint64_t row) const {
    return regions.load(std::memory_order_acquire)[row >> memory.regionShift] +
           memory.layout.offsetOf(row &
                                  ((uint32_t(1) << memory.regionShift) - 1));
  }
  /// Makes room for `count` more erased rows. Throws std::bad_alloc.
  void reserveErased(size_t count);
  /// Of a row that was taken, after `reserveErased`.
  void erase(uint32_t row) { erased.push_back(row); }
  /// What was erased before the last call is used again. Whether more waits for
  /// the next call. Needs no memory.
  bool quiesce();
  /// Gives all regions back if no row is handed out or waits for a quiescent
  /// point. Throws std::bad_alloc, and nothing has changed.
  void giveBack(RowMemory &memory);

  /// Of lists.
  size_t memoryBytes() const;

private:
  /// Rows that were never used begin here.
  uint64_t fresh = 0;
  /// Rows that are handed out, or wait for a quiescent point.
  size_t inUse = 0;
  /// Rows to be used again, those erased before the last quiescent point, and
  /// since.
  std::vector<uint32_t> free, leaving, erased;
  /// Who reads an older list finds there what is there.
  std::vector<std::unique_ptr<char *[]>> lists;
  size_t listSize = 0, regionCount = 0;
  std::atomic<char **> regions{nullptr};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_ROWPOOL_H
