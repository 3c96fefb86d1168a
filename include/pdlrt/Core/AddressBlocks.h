//===- AddressBlocks.h - Growing memory that never moves --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses are reserved in large blocks, and committed in small steps when
// they are used. However much memory is used, the process has only a few
// mappings for each block (the system allows 65,530 of them), and consecutive
// allocations are adjacent, on the same huge page. The first huge page is
// committed in smaller steps that double, because a process may have thousands
// of tables with few rows.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_ADDRESSBLOCKS_H
#define PDLRT_CORE_ADDRESSBLOCKS_H

#include <cstddef>
#include <vector>

namespace pdlrt {

/// Allocates memory that never moves, and frees all of it at once. Not
/// thread-safe.
class AddressBlocks {
public:
  /// Size of one block. If the system refuses to reserve so many addresses,
  /// smaller sizes are tried, down to `stepBytes`.
  static constexpr size_t defaultBlockBytes = size_t(1) << 30;
  /// Bytes that are committed at once: a huge page.
  static constexpr size_t stepBytes = size_t(2) << 20;
  /// Bytes of the first block that are committed initially, and the minimum.
  static constexpr size_t minBytes = size_t(64) << 10;

  explicit AddressBlocks(size_t blockBytes = defaultBlockBytes)
      : preferredBytes(blockBytes) {}
  ~AddressBlocks();
  AddressBlocks(const AddressBlocks &) = delete;
  AddressBlocks &operator=(const AddressBlocks &) = delete;

  /// Returns `bytes` zeroed bytes, adjacent to the previous ones if they fit
  /// into the block. The first ones of a block are aligned to `stepBytes`. On
  /// std::bad_alloc, nothing has changed.
  char *take(size_t bytes);

  /// Returns the number of committed bytes.
  size_t heldBytes() const { return held; }
  size_t blockCount() const { return blocks.size(); }

private:
  struct Block {
    char *start;
    size_t bytes;
  };
  void reserveBlock(size_t least);
  void commit(size_t bytes);

  size_t preferredBytes;
  std::vector<Block> blocks;
  /// In the last block: the next free byte, the end of the committed part, and
  /// the end.
  char *next = nullptr, *backed = nullptr, *end = nullptr;
  size_t held = 0;
};

} // namespace pdlrt

#endif // PDLRT_CORE_ADDRESSBLOCKS_H
