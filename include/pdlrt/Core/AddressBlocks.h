//===- AddressBlocks.h - Memory that grows and never moves ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses are reserved in large blocks, and backed by memory in small steps
// as they are taken. So however much is taken, the process has a few mappings
// for each block (the system allows 65,530 of them), and what is taken next
// follows what was taken before, on the same huge page. The first huge page is
// backed in smaller steps that double: a process may have thousands of tables
// of a few rows.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_ADDRESSBLOCKS_H
#define PDLRT_CORE_ADDRESSBLOCKS_H

#include <cstddef>
#include <vector>

namespace pdlrt {

/// Hands out memory that stays where it is, and is given back as a whole. Not
/// thread-safe.
class AddressBlocks {
public:
  /// Of one block; where the system refuses so many addresses, smaller ones are
  /// asked for, down to `stepBytes`.
  static constexpr size_t defaultBlockBytes = size_t(1) << 30;
  /// What is backed by memory at once: a huge page.
  static constexpr size_t stepBytes = size_t(2) << 20;
  /// What is backed of the first block at first, and at least.
  static constexpr size_t leastBytes = size_t(64) << 10;

  explicit AddressBlocks(size_t blockBytes = defaultBlockBytes)
      : preferredBytes(blockBytes) {}
  ~AddressBlocks();
  AddressBlocks(const AddressBlocks &) = delete;
  AddressBlocks &operator=(const AddressBlocks &) = delete;

  /// `bytes` bytes, zero, right behind those that were taken before where they
  /// fit into the block; the first ones of a block are aligned to `stepBytes`.
  /// Throws std::bad_alloc, and nothing has changed.
  char *take(size_t bytes);

  /// Backed by memory.
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
  /// Of the last block: what is taken next, the end of what is backed, its end.
  char *next = nullptr, *backed = nullptr, *end = nullptr;
  size_t held = 0;
};

} // namespace pdlrt

#endif // PDLRT_CORE_ADDRESSBLOCKS_H
