//===- AddressBlocks.h - Growing memory that never moves --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses are reserved in large blocks, and memory is committed in small
// steps when it is needed. So each block has only a few mappings, of which the
// system allows 65,530 per process. Consecutive allocations are adjacent and
// share huge pages. The first huge page is committed in smaller steps that
// double, because a process may have thousands of tables with few rows.
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
  /// smaller blocks are tried, down to `stepBytes` or the size of the
  /// allocation.
  static constexpr size_t defaultBlockBytes = size_t(1) << 30;
  /// Bytes that are committed at once: a huge page.
  static constexpr size_t stepBytes = size_t(2) << 20;
  /// Size of the first commit in the first block.
  static constexpr size_t minBytes = size_t(64) << 10;

  explicit AddressBlocks(size_t blockBytes = defaultBlockBytes)
      : preferredBytes(blockBytes) {}
  ~AddressBlocks();
  AddressBlocks(const AddressBlocks &) = delete;
  AddressBlocks &operator=(const AddressBlocks &) = delete;

  /// Returns `bytes` zeroed bytes. They directly follow the previous allocation
  /// if they fit into its block; otherwise they begin a new block, at a
  /// multiple of `stepBytes`. On std::bad_alloc, nothing has changed.
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
  /// Positions in the last block: `next` is the next free byte, `backed` the
  /// end of the committed part, and `end` the end of the block.
  char *next = nullptr, *backed = nullptr, *end = nullptr;
  size_t held = 0;
};

} // namespace pdlrt

#endif // PDLRT_CORE_ADDRESSBLOCKS_H
