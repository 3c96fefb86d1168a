//===- RowPool.h - The rows of a table, by number ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows lie in regions of up to 2 MiB, which never move; a row's number says
// which region and where in it. A shard takes rows a slab at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_ROWPOOL_H
#define LIB_RUNTIME_TABLE_ROWPOOL_H

#include "pdlrt/Core/AddressBlocks.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace pdlrt {

/// Hands out rows of one size. Thread-safe.
class RowPool {
public:
  /// `rowBytes` > 0.
  explicit RowPool(size_t rowBytes);
  RowPool(const RowPool &) = delete;
  RowPool &operator=(const RowPool &) = delete;

  /// Rows of a slab: about 1 KiB of them, so that an almost empty table stays
  /// small.
  uint64_t slabSize() const { return uint64_t(1) << slabShift; }
  /// The number of the first row of a new slab; the others follow. Throws
  /// std::bad_alloc.
  uint64_t takeSlab();
  /// Where a row is that was handed out to this thread, or to one that this
  /// thread has synchronised with since.
  char *at(uint64_t row) const {
    return regions.load(std::memory_order_acquire)[row >> regionShift] +
           (row & ((uint64_t(1) << regionShift) - 1)) * rowBytes;
  }
  size_t memoryBytes() const;

private:
  const size_t rowBytes;
  /// Rows of a slab, and of a region, are powers of two.
  const int slabShift, regionShift;
  mutable std::mutex mutex;
  AddressBlocks blocks;
  uint64_t slabs = 0;
  /// Who reads an older list finds there what is there.
  std::vector<std::unique_ptr<char *[]>> lists;
  size_t listSize = 0, regionCount = 0;
  std::atomic<char **> regions{nullptr};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_ROWPOOL_H
