//===- SpilledShard.h - Spilled rows of a shard -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evicted rows are appended to a block. When the block is full, it is written
// to the store (RowStore.h). So the store has few values of some KiB each. If a
// row is read back into memory, its block is not rewritten. For each row of a
// block, a bit in memory says whether the row is live: it was neither read back
// nor erased. The number of a block without live rows is reused. If less than
// half of all rows are live, those of the emptiest blocks are moved to a new
// block.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_SPILLEDSHARD_H
#define LIB_RUNTIME_TABLE_SPILLEDSHARD_H

#include "Table/BlockIndex.h"
#include "pdlrt/Table/RowStore.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// Header of a spilled row: the bits of its `RowHeader`, and how many times its
/// shard had been saved when the row left memory.
struct SpilledHead {
  uint32_t noted, saves;

  bool isDirty() const;
};

/// Layout of a block: all keys, all headers, all rows. Immutable.
class BlockLayout {
public:
  explicit BlockLayout(size_t rowBytes);

  /// Returns the number of rows in a block, at most 64.
  uint32_t capacity() const { return rows; }
  size_t rowSize() const { return rowBytes; }
  size_t bytes() const { return rows * (keyBytes + headBytes + rowBytes); }
  int64_t keyAt(const char *block, uint32_t slot) const;
  SpilledHead headAt(const char *block, uint32_t slot) const;
  const char *rowAt(const char *block, uint32_t slot) const {
    return block + rows * (keyBytes + headBytes) + slot * rowBytes;
  }
  void put(char *block, uint32_t slot, int64_t key, SpilledHead head,
           const void *row) const;

private:
  static constexpr size_t keyBytes = sizeof(int64_t),
                          headBytes = sizeof(SpilledHead);
  size_t rowBytes;
  uint32_t rows;
};

/// Storage of the spilled rows of one table.
struct SpilledTable {
  const std::shared_ptr<RowStore> store;
  const uint64_t id;
  const BlockLayout layout;
};

/// State of a block. `live` has a bit for each row that is neither removed nor
/// outdated. `changed` tells whether rows may have changed since a save of the
/// shard.
struct SpilledBlock {
  uint64_t live = 0;
  /// One more than the maximum `saves` of a dirty row.
  uint32_t changed = 0;
};

/// The rows of one shard that are not in memory. A key has at most one row. The
/// lock of the shard must be locked.
class SpilledShard {
public:
  uint64_t size() const { return index.size(); }
  void prefetch(uint64_t mixed) const { index.prefetch(mixed); }
  /// Calls visit(block) for each block that may contain the key's row.
  template <typename Visit> void find(uint64_t mixed, Visit visit) const {
    index.find(mixed, visit);
  }
  /// Returns true if a block is not in the store yet, but in `open`.
  bool isOpen(uint32_t block) const {
    return block == openNumber && !openBytes.empty();
  }
  const char *open() const { return openBytes.data(); }
  /// Returns the position of a key's row in a block, or -1 if the block does
  /// not have it. `bytes`: content of the block.
  int slotOf(const BlockLayout &layout, uint32_t block, const char *bytes,
             int64_t key) const;

  /// Adds a row. The shard must not have a row of this key. On std::bad_alloc,
  /// the rows of the shard have not changed.
  void add(const SpilledTable &table, int number, int64_t key, SpilledHead head,
           const void *row);
  /// Marks a row as removed. Allocates nothing.
  void remove(const BlockLayout &layout, uint32_t block, uint32_t slot,
              int64_t key);
  /// Moves live rows out of blocks that have few of them, while the shard has
  /// more dead rows than live ones and two full blocks together. The numbers of
  /// the emptied blocks are reused. Until then, the store keeps the bytes of
  /// these blocks. Call only if rows have left memory since the shard was
  /// locked (`HashTable::noteDeparture`). This tells threads that have read a
  /// block without the lock to search again. Throws std::bad_alloc.
  void clean(const SpilledTable &table, int number);
  enum class Change { None, Written, Gone };
  /// Calls change(key, header, row) for each row. `change` may modify the
  /// header and the row, and returns what it has done. On std::bad_alloc, some
  /// rows may have been changed.
  using Visit = std::function<Change(int64_t, SpilledHead &, char *)>;
  void rewrite(const SpilledTable &table, int number, const Visit &change);

  /// The current content of the shard, for reading without the lock.
  class View {
  public:
    using Visit = std::function<void(int64_t, SpilledHead, const char *)>;
    /// Calls visit(key, header, row) for each row.
    void forEach(const Visit &visit) const { read(0, visit); }
    /// Calls visit(key, header, row) for all rows of blocks in which a row may
    /// have changed since save number `saves` of the shard.
    void forEachChanged(uint32_t saves, const Visit &visit) const {
      read(saves + 1, visit);
    }

  private:
    friend class SpilledShard;
    void read(uint32_t minChanged, const Visit &visit) const;

    const SpilledTable *table = nullptr;
    std::vector<SpilledBlock> blocks;
    uint32_t openNumber = 0;
    std::string openBytes;
    std::unique_ptr<RowStore::Reader> reader;
  };
  View view(const SpilledTable &table, int number) const;

  /// Returns the number of blocks, including those without live rows, whose
  /// numbers are reused later.
  size_t blockCount() const { return blocks.size(); }
  /// Returns the bytes in memory.
  size_t memoryBytes() const {
    return index.memoryBytes() + blocks.capacity() * sizeof(SpilledBlock) +
           unused.capacity() * sizeof(uint32_t) + openBytes.capacity();
  }

private:
  void beginBlock(const SpilledTable &table, int number);
  void noteChange(uint32_t block, SpilledHead head);

  BlockIndex index;
  std::vector<SpilledBlock> blocks;
  /// Numbers of blocks without rows, for reuse.
  std::vector<uint32_t> unused;
  /// Number of rows in blocks that are removed or outdated.
  uint64_t dead = 0;
  uint32_t openNumber = 0, openRows = 0;
  std::string openBytes;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_SPILLEDSHARD_H
