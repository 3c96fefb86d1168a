//===- SpilledShard.h - Rows of a shard that are kept elsewhere -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that leave memory are put one behind the other into a block, which goes
// to the store (RowStore.h) when it is full, and is not written again for rows
// that leave it. So the store has few values of some KiB each, whatever rows
// do. Which rows of a block still count stands in memory, a bit each. A block
// that has none any more is used again; where fewer than half of all rows
// count, those of the emptiest blocks move to a new one.
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

/// What is noted of a row that is kept: its header (`RowHeader::noted`), and
/// how often its shard had been saved when it left memory.
struct SpilledHead {
  uint32_t noted, saves;

  bool isDirty() const;
};

/// How a table's rows lie in a block: all keys, all heads, all rows. Immutable.
class BlockLayout {
public:
  explicit BlockLayout(size_t rowBytes);

  /// Rows of a block, at most 64.
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

/// Where the shards of one table keep rows.
struct SpilledTable {
  const std::shared_ptr<RowStore> store;
  const uint64_t id;
  const BlockLayout layout;
};

/// A bit for each row of a block that counts, and where those may have changed
/// since the shard was saved.
struct SpilledBlock {
  uint64_t live = 0;
  /// One more than the most `saves` of a dirty row.
  uint32_t changed = 0;
};

/// The rows of one shard that are not in memory. A key is here at most once.
/// Guarded by the shard's lock.
class SpilledShard {
public:
  uint64_t size() const { return index.size(); }
  void prefetch(uint64_t mixed) const { index.prefetch(mixed); }
  /// Calls visit(block) for each block that may have the key.
  template <typename Visit> void find(uint64_t mixed, Visit visit) const {
    index.find(mixed, visit);
  }
  /// Whether a block is not in the store yet, but in `open`.
  bool isOpen(uint32_t block) const {
    return block == openNumber && !openBytes.empty();
  }
  const char *open() const { return openBytes.data(); }
  /// Where in a block that was read the row of a key is, -1: it is not.
  int slotOf(const BlockLayout &layout, uint32_t block, const char *bytes,
             int64_t key) const;

  /// Keeps the row of a key that is not here. Throws std::bad_alloc, and
  /// nothing has changed that can be seen.
  void add(const SpilledTable &table, int number, int64_t key, SpilledHead head,
           const void *row);
  /// A row counts no more. Needs no memory.
  void remove(const BlockLayout &layout, uint32_t block, uint32_t slot,
              int64_t key);
  /// Moves rows out of blocks where many count no more. Who reads blocks
  /// without the lock learns that rows have left memory. Throws std::bad_alloc.
  void clean(const SpilledTable &table, int number);
  enum class Change { None, Written, Gone };
  /// Calls change(key, head, row), which may write the latter two, for each
  /// row. Throws std::bad_alloc, and some have changed.
  using Visit = std::function<Change(int64_t, SpilledHead &, char *)>;
  void rewrite(const SpilledTable &table, int number, const Visit &change);

  /// What the shard has now, for who reads it without the lock.
  class View {
  public:
    /// Calls visit(key, head, row) for the rows, or with `saves` for those in
    /// blocks where some may have changed since the shard was saved so often.
    using Visit = std::function<void(int64_t, SpilledHead, const char *)>;
    void forEach(const Visit &visit) const { read(0, visit); }
    void forEachChanged(uint32_t saves, const Visit &visit) const {
      read(saves + 1, visit);
    }

  private:
    friend class SpilledShard;
    void read(uint32_t leastChanged, const Visit &visit) const;

    const SpilledTable *table = nullptr;
    std::vector<SpilledBlock> blocks;
    uint32_t openNumber = 0;
    std::string openBytes;
    std::unique_ptr<RowStore::Reader> reader;
  };
  View view(const SpilledTable &table, int number) const;

  /// Blocks that the store has, or had: it keeps room for them.
  size_t blockCount() const { return blocks.size(); }
  /// Bytes in memory.
  size_t memoryBytes() const {
    return index.memoryBytes() + blocks.capacity() * sizeof(SpilledBlock) +
           unused.capacity() * sizeof(uint32_t) + openBytes.capacity();
  }

private:
  void beginBlock(const SpilledTable &table, int number);
  void noteChange(uint32_t block, SpilledHead head);

  BlockIndex index;
  std::vector<SpilledBlock> blocks;
  /// Numbers of blocks that have no rows, to be used again.
  std::vector<uint32_t> unused;
  /// Rows that are in blocks and count no more.
  uint64_t dead = 0;
  uint32_t openNumber = 0, openRows = 0;
  std::string openBytes;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_SPILLEDSHARD_H
