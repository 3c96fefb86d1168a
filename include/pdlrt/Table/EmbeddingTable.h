//===- EmbeddingTable.h - From 64-bit keys to rows --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table is a total function from key to row: the row of a key that nobody has
// seen is computed from (seed, symbol, key), so inserting it changes nothing
// that can be read. All 2^64 keys are legal.
//
// Keys fall into 1024 logical shards by the top bits of the mixed key
// (pdlabi/hash.h). Shards are the unit of locking, of applying updates, of
// norms and, later, of placement on servers.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_EMBEDDINGTABLE_H
#define PDLRT_TABLE_EMBEDDINGTABLE_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/Table/FrozenRows.h"
#include "pdlrt/Table/RowHeader.h"
#include "pdlrt/Table/RowImages.h"
#include "pdlrt/Table/RowLayout.h"
#include "pdlrt/Table/TableOptions.h"
#include "pdlrt/Table/WaitingKey.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pdlrt {

class RowStore;
class TableMoment;

/// A key with its row: the value, followed without gap by its slots. Rows are
/// aligned to their elements only.
struct TableRow {
  int64_t key;
  void *row;
};

/// Rows of a table, of which some may be copies (RowImages.h) that live as long
/// as the list has them.
struct RowList : std::vector<TableRow> {
  RowImages images;

  /// Adds the rows of another list, with their copies.
  void append(RowList &&other) {
    insert(end(), other.begin(), other.end());
    images.append(std::move(other.images));
    other.clear();
  }
};

/// Scratch memory of the batched calls; one for each calling thread.
struct TableScratch {
  AlignedBuffer keys, mixed, order;
  /// Calls that insert keys add the rows that they make; null: nobody asks.
  std::vector<TableRow> *newRows = nullptr;
};

/// What a row holds that is made for a key.
enum class NewRow {
  Initial, ///< its initial value and slots
  Open     ///< anything: the caller writes all of it
};

/// Which rows of a table are saved, and whether their headers say so then.
enum class SavedRows {
  All,    ///< all of them; headers stay as they are
  Base,   ///< all of them, so that changes are told from now on
  Changed ///< those that have changed since they were saved last, likewise
};

/// Which rows are evicted first: those that were not updated for the longest
/// time, of these the ones that were updated in the fewest steps; or the other
/// way round. What else is equal goes by shard and key.
enum class Eviction { LeastRecent, LeastFrequent };

/// The interface of every table. Rows never move. A row that is erased stays
/// where it is, though no key leads there, up to the second call of `quiesce`
/// that follows: who holds rows or handles through one such call is safe.
///
/// Thread-safety: calls lock the shards that they touch, so any may run beside
/// any other. What a row holds is guarded by the caller.
class EmbeddingTable : public FrozenRows {
public:
  static constexpr int shardCount = 1024;

  explicit EmbeddingTable(TableOptions options);
  ~EmbeddingTable() override;

  const TableOptions &options() const { return tableOptions; }
  /// Those of the options, computed once.
  size_t valueBytes() const { return bytesOfValue; }
  size_t rowBytes() const { return bytesOfRow; }
  const RowLayout &layout() const { return rowLayout; }
  /// Those of the options; see there.
  size_t elementBytes() const { return tableOptions.elementBytes(); }
  size_t frozenOffset() const { return tableOptions.frozenOffset(); }

  /// rows[i] = the row of keys[i], created with its initial value if it is new;
  /// `inserted` rises by the number of new rows. Keys may repeat. Fails if the
  /// table is full (2^30 numbers of rows in each of 64 groups of shards, of
  /// which rows that do not fill their regions leave out up to a half); throws
  /// std::bad_alloc.
  virtual Status findOrInsert(int64_t count, const int64_t *keys, void **rows,
                              TableScratch &scratch, int64_t &inserted) = 0;

  /// rows[i] = the row of keys[i], all of which are of one shard and of which
  /// none is there twice, with room made for all of them at once. Errors as of
  /// `findOrInsert`.
  virtual Status insertShard(int shard, int64_t count, const int64_t *keys,
                             void **rows, NewRow content) = 0;

  /// As `findOrInsert`, for a step that comes later: handles[i] = the handle of
  /// the row of keys[i]. Not where updates make the rows (`TableLife`).
  virtual Status pull(int64_t count, const int64_t *keys, RowHandle *handles,
                      TableScratch &scratch, int64_t &inserted) = 0;

  /// rows[i] = where the row of handles[i] is.
  virtual void rowsOf(int64_t count, const RowHandle *handles,
                      void **rows) const = 0;

  /// For an update of distinct keys, which in its step occur `occurrences[i]`
  /// times: rows[i] = the row of keys[i], or null where that has none yet
  /// (`TableLife`). `inserted` rises by the number of new rows. Errors as of
  /// `findOrInsert`, and of some keys it is noted then that they occurred.
  virtual Status admit(int64_t count, const int64_t *keys,
                       const int64_t *occurrences, void **rows,
                       TableScratch &scratch, int64_t &inserted) = 0;

  /// A period begins that comes behind `period()`, between updates: what was
  /// not updated in so many whole periods before it goes, rows and what is
  /// noted of keys that wait. Returns how many rows did. Throws
  /// std::bad_alloc, and some have gone.
  virtual int64_t beginPeriod(int64_t period) = 0;
  /// The same, and nothing goes: of a table that is restored.
  virtual void resumePeriod(int64_t period) = 0;
  /// The period that updates are of now, from 0.
  virtual int64_t period() const = 0;

  /// Takes `count` rows out of memory, or all; returns how many. By what
  /// headers say. Between updates. Throws std::bad_alloc, and some have gone.
  /// Where the table keeps them elsewhere, nothing else can be told of it, and
  /// it may be fewer while they are saved.
  virtual int64_t evict(int64_t count, Eviction order) = 0;
  /// The rows of shards [first, end) leave memory for where they are kept, if
  /// they are; of a table that is restored, whose rows nobody has.
  virtual void putAside(int, int) {}
  /// For a step that comes later: brings rows into memory that are not, those
  /// of keys that have one.
  virtual void bringIn(int64_t, const int64_t *, TableScratch &) {}
  /// Rows in memory.
  virtual int64_t heldRows() const { return size(); }
  /// From now on rows may be evicted, so that updates alone make them. Before
  /// any use.
  void setBounded() { tableOptions.life.isBounded = true; }
  /// What rows and keys in memory take, with headers and about what the index
  /// has for keys, in bytes.
  size_t bytesInUse() const;
  /// What a row in memory has of that.
  size_t bytesOfHeldRow() const;
  /// What is left of it where the row is evicted.
  virtual size_t bytesOfEvictedRow() const { return 0; }

  /// The number of keys that wait.
  virtual int64_t waitingCount() const = 0;
  /// Replaces `keys` by those of a shard that wait, ascending as signed
  /// integers: all of them, or with `onlyChanged` those that may differ from
  /// what was saved. `areSaved`: they do not any more.
  virtual void collectWaiting(int shard, bool onlyChanged, bool areSaved,
                              std::vector<WaitingKey> &keys) = 0;
  /// Sets what is noted of keys of a shard, none of which has a row; null bits:
  /// nothing is. Throws std::bad_alloc.
  virtual void restoreWaiting(int shard, std::span<const WaitingKey> keys) = 0;

  /// Takes keys and their rows away, those that are there; returns how many
  /// were. Throws std::bad_alloc, and has taken away some.
  virtual int64_t erase(int64_t count, const int64_t *keys,
                        TableScratch &scratch) = 0;

  /// A quiescent point, such as the end of a step: nobody uses rows or handles
  /// any more that were found before the last one. What was erased before that
  /// may become new rows. From now on it is `time`, modulo 2^15, which headers
  /// get. Needs no memory.
  virtual void quiesce(uint16_t time) = 0;
  virtual uint16_t time() const = 0;

  /// rows[i] = the row of keys[i], or null if there is none. Returns the number
  /// of nulls. Throws std::bad_alloc.
  virtual int64_t find(int64_t count, const int64_t *keys, void **rows,
                       TableScratch &scratch) const = 0;

  /// The same for who only reads: rows that are not in memory are copied to
  /// `images`, and none comes in.
  virtual int64_t look(int64_t count, const int64_t *keys, void **rows,
                       TableScratch &scratch, RowImages &) const {
    return find(count, keys, rows, scratch);
  }

  int64_t findFrozen(int64_t count, const int64_t *keys, void **rows,
                     TableScratch &scratch, RowImages &images) const override;
  int32_t frozenStorage() const override {
    return tableOptions.frozenStorage();
  }
  size_t frozenBytes() const override { return tableOptions.frozenBytes(); }
  void initialFrozen(int64_t key, void *value) const override;

  /// The number of rows in a shard, 0 <= shard < shardCount.
  virtual int64_t shardSize(int shard) const = 0;

  /// Replaces `rows` by the rows of one shard, keys ascending as signed
  /// integers.
  virtual void collectShard(int shard, RowList &rows) const = 0;

  /// The same of those rows that may differ from what was saved
  /// (`RowHeader::isDirty`).
  virtual void collectChanged(int shard, RowList &rows) const = 0;

  /// Behind `RowHeader::noteSaved` of all that `collectChanged` gives: rows
  /// that are not in memory learn it too. Nobody evicts meanwhile.
  virtual void noteShardSaved(int) const {}

  /// Whether keys that are erased are kept in mind from now on; those of before
  /// are forgotten.
  virtual void trackErased(bool isTracked) = 0;

  /// Those keys, and those that wait no more, which are forgotten then: by
  /// (shard, key), each once; some may have new rows, or wait again. Nobody
  /// erases meanwhile. Throws std::bad_alloc.
  virtual std::vector<int64_t> takeErased() = 0;

  /// Bytes held for keys and rows together.
  virtual size_t memoryBytes() const = 0;

  /// The number of rows.
  int64_t size() const;

  /// Leaves rows out of saves up to the next call: those of `prepared`, made
  /// for steps that are not applied yet, that nobody has used or changed since.
  /// Of a row that is null, the key says which it is. Call between steps, while
  /// nobody saves. Throws std::bad_alloc.
  void withhold(std::span<const TableRow> prepared);
  /// Returns whether no step has used or changed `row` since it was made.
  /// `initial` is scratch memory. Throws std::bad_alloc.
  bool isUnused(const TableRow &row, std::vector<char> &initial) const;
  /// Keys of rows that are left out, ascending as signed integers.
  const std::vector<int64_t> &withheld() const { return withheldKeys; }
  /// The number of rows in a shard that are not left out.
  int64_t savedSize(int shard) const;
  /// Replaces `rows` by the rows of a shard that a save holds: keys ascending
  /// as signed integers. `which`: those that have changed, or all.
  void collectSaved(int shard, SavedRows which, RowList &rows) const;

  /// From now up to `endMoment` others may read the rows as they are now
  /// (TableMoment.h), those that `saved` says; nobody uses the table meanwhile.
  /// At most `mostBytes` are put aside for them. The moment before has ended.
  /// Throws std::bad_alloc.
  TableMoment &beginMoment(size_t mostBytes, SavedRows saved = SavedRows::All);
  /// Readers have ended; others may use the table.
  void endMoment();
  /// Whom to tell before rows are written; null while nobody reads a moment.
  TableMoment *moment() const {
    return openMoment.load(std::memory_order_acquire);
  }

  /// The logical shard of a key.
  static int shardOf(int64_t key);

  /// Writes the initial value (`width` elements) of a key: as it is stored, in
  /// `valueBytes`.
  void initialValue(int64_t key, void *value) const {
    tableOptions.initialValue(key, value);
  }
  /// Writes it as elements, those that are stored.
  void initialElements(int64_t key, void *elements) const {
    tableOptions.initialElements(key, elements);
  }
  /// Writes what frozen programs read of a row, as elements.
  void frozenElements(const void *row, void *elements) const;
  /// Writes the initial value and the slots of a key.
  void initialRow(int64_t key, void *row) const;

private:
  TableOptions tableOptions;
  size_t bytesOfValue, bytesOfRow;
  RowLayout rowLayout;
  std::vector<int64_t> withheldKeys;
  /// Made once, so that who found it open may use it beyond its end.
  std::unique_ptr<TableMoment> ownMoment;
  std::atomic<TableMoment *> openMoment{nullptr};
};

/// The most keys that a table groups by shard at once; a call with more is cut,
/// so that any number is legal.
inline constexpr int64_t mostKeysAtOnce = int64_t(1) << 24;

/// The table of this process: open addressing in buckets of one cache line,
/// rows in regions. `keysAtOnce`, 1 to `mostKeysAtOnce`, never changes a
/// result.
std::unique_ptr<EmbeddingTable>
createHashTable(TableOptions options, int64_t keysAtOnce = mostKeysAtOnce);

/// The same, whose evicted rows are kept in `store`, so that nothing but memory
/// and time tells of evictions. Rows are made in updates (`setBounded`).
std::unique_ptr<EmbeddingTable>
createSpillingTable(TableOptions options, std::shared_ptr<RowStore> store,
                    int64_t keysAtOnce = mostKeysAtOnce);

} // namespace pdlrt

#endif // PDLRT_TABLE_EMBEDDINGTABLE_H
