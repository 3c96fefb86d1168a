//===- SpillingTable.cpp - A table whose cold rows are in a folder --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key has its row in memory or in the store (RowStore.h). Who asks for a row
// that is not in memory brings it there; what the store has of it stays, and is
// old from then on: memory is looked at first, and says so. So a row is written
// to the store when it leaves memory, and nothing is when it comes back.
//
// Rows leave between updates. Who brings one in may run beside that: it notes
// how often rows of the shard have left before it reads the store, and begins
// anew if some have left since.
//
// A moment (TableMoment.h) reads rows in memory and those in the store as they
// were. Rows of shards that it has yet to read do not leave, so a shard has the
// same rows up to there; one that comes in is put aside before it is written,
// like any.
//
//===----------------------------------------------------------------------===//

#include "Table/EvictionRank.h"
#include "Table/FallibleRanges.h"
#include "Table/HashTable.h"
#include "Table/SortRows.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Table/RowStore.h"
#include "pdlrt/Table/TableMoment.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace pdlrt;

namespace {

class SpillingTable final : public HashTable {
public:
  SpillingTable(TableOptions options, std::shared_ptr<RowStore> rowStore,
                int64_t mostKeys)
      : HashTable(std::move(options), mostKeys), store(std::move(rowStore)),
        stored(std::make_unique<std::atomic<int64_t>[]>(shardCount)),
        saves(std::make_unique<std::atomic<uint32_t>[]>(shardCount)) {}

  Status findOrInsert(int64_t count, const int64_t *keys, void **rows,
                      TableScratch &scratch, int64_t &inserted) override;
  Status insertShard(int shard, int64_t count, const int64_t *keys, void **rows,
                     NewRow content) override;
  int64_t find(int64_t count, const int64_t *keys, void **rows,
               TableScratch &scratch) const override;
  int64_t look(int64_t count, const int64_t *keys, void **rows,
               TableScratch &scratch, RowImages &images) const override;
  Status admit(int64_t count, const int64_t *keys, const int64_t *occurrences,
               void **rows, TableScratch &scratch, int64_t &inserted) override;
  int64_t evict(int64_t count, Eviction order) override;
  void putAside(int first, int end) override;
  void bringIn(int64_t count, const int64_t *keys,
               TableScratch &scratch) override;
  int64_t heldRows() const override;
  int64_t erase(int64_t count, const int64_t *keys,
                TableScratch &scratch) override;
  int64_t shardSize(int shard) const override {
    return HashTable::shardSize(shard) + storedIn(shard);
  }
  void collectShard(int shard, RowList &rows) const override;
  void collectChanged(int shard, RowList &rows) const override;
  void noteShardSaved(int shard) const override;

protected:
  int64_t listAtPeriod(int number, int64_t period,
                       std::vector<TableRow> &rows) override;

private:
  int64_t storedIn(int shard) const {
    return stored[shard].load(std::memory_order_relaxed);
  }
  /// Whether what changed in a row has been saved since it left memory.
  bool wasSaved(int shard, const StoredRow &row) const {
    return row.saves < saves[shard].load(std::memory_order_relaxed);
  }
  /// Which of keys, whose rows were looked for, may have one in the store.
  std::vector<int64_t> missingOf(int64_t count, void *const *rows) const;
  /// Where anything was ever spilled: `find`, for who will look once more.
  void bringIn(int64_t count, const int64_t *keys, void **rows,
               TableScratch &scratch);
  /// Brings in those that have one; sets their rows, and returns how many.
  int64_t bringMissing(int64_t count, const int64_t *keys, void **rows) const;
  /// The same for some of the keys, by number; those that must be tried again
  /// are left in `which`.
  int64_t bringSome(std::vector<int64_t> &which, const int64_t *keys,
                    void **rows) const;
  /// Rows of a shard leave memory; orders them.
  void spill(int number, std::span<TableRow> rows);
  /// A copy of what the store has, with its header.
  void *copyOf(int number, const StoredRow &row, RowImages &images) const;
  /// Adds copies of what the store has of a shard to those rows in memory,
  /// keys ascending: of all keys, or of those that have changed.
  void addStored(int number, const std::vector<TableRow> &inMemory,
                 RowList &rows, bool onlyChanged) const;

  std::shared_ptr<RowStore> store;
  /// By shard: keys whose row is in the store alone. Written with the shard
  /// locked.
  std::unique_ptr<std::atomic<int64_t>[]> stored;
  /// By shard: how often it has been saved (`StoredRow::saves`).
  std::unique_ptr<std::atomic<uint32_t>[]> saves;
  /// Whether the store has, or had, anything of this table.
  std::atomic<bool> hasSpilled{false};
};

} // namespace

/// What one key costs of which the store is asked: a block that is read.
static constexpr double bytesOfRead = 4096;

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

std::vector<int64_t> SpillingTable::missingOf(int64_t count,
                                              void *const *rows) const {
  std::vector<int64_t> which;
  // Not by how many the store has now: one that was not in memory may have come
  // in since, as the last of its shard.
  if (!hasSpilled.load(std::memory_order_acquire))
    return which;
  for (int64_t i = 0; i < count; ++i)
    if (!rows[i])
      which.push_back(i);
  return which;
}

int64_t SpillingTable::bringSome(std::vector<int64_t> &which,
                                 const int64_t *keys, void **rows) const {
  // The table's own state changes, but nothing that it says of its rows.
  auto &self = const_cast<SpillingTable &>(*this);
  const size_t count = which.size();
  std::vector<int64_t> asked(count);
  std::vector<uint64_t> departures(count);
  for (size_t i = 0; i < count; ++i) {
    asked[i] = keys[which[i]];
    departures[i] = departuresOf(shardOf(asked[i]));
  }
  int64_t brought = 0;
  std::vector<int64_t> again;
  store->get(options().id, asked, [&](size_t i, const StoredRow &row) {
    const int number = shardOf(asked[i]);
    if (self.takeIn(number, asked[i], departures[i], row.bytes.data(),
                    row.noted, wasSaved(number, row), stored[number],
                    rows[which[i]]))
      ++brought;
    else
      again.push_back(which[i]);
  });
  which.swap(again);
  return brought;
}

int64_t SpillingTable::bringMissing(int64_t count, const int64_t *keys,
                                    void **rows) const {
  const std::vector<int64_t> missing = missingOf(count, rows);
  if (missing.empty())
    return 0;
  const TraceSpan span("bring in", {int64_t(missing.size())});
  std::atomic<int64_t> brought{0};
  fallibleRanges(int64_t(missing.size()), double(missing.size()) * bytesOfRead,
                 [&](int64_t begin, int64_t end) {
                   std::vector<int64_t> which(missing.begin() + begin,
                                              missing.begin() + end);
                   while (!which.empty())
                     brought += bringSome(which, keys, rows);
                 });
  return brought;
}

int64_t SpillingTable::find(int64_t count, const int64_t *keys, void **rows,
                            TableScratch &scratch) const {
  const int64_t missing = HashTable::find(count, keys, rows, scratch);
  return missing == 0 ? 0 : missing - bringMissing(count, keys, rows);
}

int64_t SpillingTable::look(int64_t count, const int64_t *keys, void **rows,
                            TableScratch &scratch, RowImages &images) const {
  int64_t missing = HashTable::find(count, keys, rows, scratch);
  const std::vector<int64_t> which =
      missing == 0 ? std::vector<int64_t>() : missingOf(count, rows);
  std::vector<int64_t> asked(which.size());
  for (size_t i = 0; i < which.size(); ++i)
    asked[i] = keys[which[i]];
  store->get(options().id, asked, [&](size_t i, const StoredRow &row) {
    rows[which[i]] = copyOf(shardOf(asked[i]), row, images);
    --missing;
  });
  return missing;
}

void SpillingTable::bringIn(int64_t count, const int64_t *keys,
                            TableScratch &scratch) {
  std::vector<void *> rows(static_cast<size_t>(count));
  bringIn(count, keys, rows.data(), scratch);
}

void SpillingTable::bringIn(int64_t count, const int64_t *keys, void **rows,
                            TableScratch &scratch) {
  if (hasSpilled.load(std::memory_order_acquire))
    find(count, keys, rows, scratch);
}

Status SpillingTable::findOrInsert(int64_t count, const int64_t *keys,
                                   void **rows, TableScratch &scratch,
                                   int64_t &inserted) {
  bringIn(count, keys, rows, scratch);
  return HashTable::findOrInsert(count, keys, rows, scratch, inserted);
}

Status SpillingTable::insertShard(int number, int64_t count,
                                  const int64_t *keys, void **rows,
                                  NewRow content) {
  TableScratch scratch;
  bringIn(count, keys, rows, scratch);
  return HashTable::insertShard(number, count, keys, rows, content);
}

Status SpillingTable::admit(int64_t count, const int64_t *keys,
                            const int64_t *occurrences, void **rows,
                            TableScratch &scratch, int64_t &inserted) {
  bringIn(count, keys, rows, scratch);
  return HashTable::admit(count, keys, occurrences, rows, scratch, inserted);
}

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

int64_t SpillingTable::heldRows() const {
  int64_t sum = 0;
  for (int shard = 0; shard < shardCount; ++shard)
    sum += HashTable::shardSize(shard);
  return sum;
}

void SpillingTable::spill(int number, std::span<TableRow> rows) {
  if (rows.empty())
    return;
  // As the store has them: the next one goes beside the last.
  sortByKey(rows);
  RowStore::Batch batch(*store);
  const size_t bytes = rowBytes();
  for (const TableRow &row : rows)
    batch.put(options().id, number, row.key,
              {layout().headerOf(row.row).noted(),
               saves[number],
               {static_cast<const char *>(row.row), bytes}});
  batch.write();
  hasSpilled.store(true, std::memory_order_release);
  release(number, rows, stored[number]);
}

int64_t SpillingTable::evict(int64_t count, Eviction order) {
  const TraceSpan span("spill", {count});
  const int64_t all = heldRows();
  if (count <= 0 || all == 0)
    return 0;
  const double share = std::min(1.0, double(count) / double(all));
  const uint16_t now = time();
  std::atomic<int64_t> spilled{0};
  fallibleRanges(
      shardCount, double(count) * bytesOfRead, [&](int64_t begin, int64_t end) {
        // Each shard has its part: which rows it is changes no result.
        std::vector<TableRow> rows;
        for (int number = int(begin); number < int(end); ++number) {
          if (const TableMoment *reading = moment();
              reading && !reading->isPassed(number))
            continue;
          listShard(number, rows);
          const auto leaving = std::min<size_t>(
              rows.size(), size_t(std::ceil(share * double(rows.size()))));
          const auto rank = [&](const TableRow &row) {
            return EvictionRank::of(layout().headerOf(row.row), now, order);
          };
          std::ranges::nth_element(rows, rows.begin() + int64_t(leaving), {},
                                   rank);
          spill(number, std::span(rows).first(leaving));
          spilled += int64_t(leaving);
        }
      });
  return spilled;
}

void SpillingTable::putAside(int first, int end) {
  std::vector<TableRow> rows;
  for (int number = first; number < end; ++number) {
    listShard(number, rows);
    spill(number, rows);
  }
  // Nobody has them, so that their memory may be used at once.
  for (int i = 0; i < 2; ++i)
    quiesce(time());
}

int64_t SpillingTable::erase(int64_t count, const int64_t *keys,
                             TableScratch &scratch) {
  std::vector<void *> rows(static_cast<size_t>(count));
  bringIn(count, keys, rows.data(), scratch);
  // All are in memory, so that what the store has of them is old.
  RowStore::Batch batch(*store);
  for (int64_t i = 0; i < count; ++i)
    if (rows[size_t(i)])
      batch.erase(options().id, shardOf(keys[i]), keys[i]);
  batch.write();
  return HashTable::erase(count, keys, scratch);
}

int64_t SpillingTable::listAtPeriod(int number, int64_t period,
                                    std::vector<TableRow> &rows) {
  // Who brings in a row meanwhile waits, or finds that rows have left: it has
  // read what was before this period.
  const std::lock_guard lock(mutexOf(number));
  listLockedShard(number, rows);
  if (storedIn(number) == 0)
    return 0;
  const bool isRewritten = !options().life.scoreWeights.empty();
  TableMoment *reading = moment();
  // What a save that goes on notes as saved is not what is written here.
  const uint32_t count = saves[number] + (reading && reading->notesSaved() &&
                                          !reading->isPassed(number));
  std::vector<TableRow> inMemory = rows;
  sortByKey(inMemory);
  RowImages images;
  RowStore::Batch batch(*store);
  int64_t erased = 0;
  store->forEach(options().id, number, [&](int64_t key, const StoredRow &kept) {
    if (std::ranges::binary_search(inMemory, key, {}, &TableRow::key))
      return;
    constexpr size_t atOnce = 1024;
    void *row = copyOf(number, kept, images);
    if (reading && isRewritten)
      reading->noteRewritten(key, row);
    if (passesOut(row, period)) {
      if (reading)
        reading->noteErased(key, row);
      trackErasedKey(number, key);
      batch.erase(options().id, number, key);
      ++erased;
    } else if (isRewritten) {
      batch.put(options().id, number, key,
                {layout().headerOf(row).noted(),
                 count,
                 {static_cast<const char *>(row), rowBytes()}});
    }
    if (batch.size() >= atOnce) {
      batch.write();
      images.clear();
    }
  });
  batch.write();
  stored[number] -= erased;
  noteDeparture(number);
  return erased;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

void *SpillingTable::copyOf(int number, const StoredRow &row,
                            RowImages &images) const {
  void *copy = images.take(layout());
  std::memcpy(copy, row.bytes.data(), rowBytes());
  layout().headerOf(copy).restore(row.noted, time(), wasSaved(number, row));
  return copy;
}

void SpillingTable::addStored(int number, const std::vector<TableRow> &inMemory,
                              RowList &rows, bool onlyChanged) const {
  if (storedIn(number) == 0)
    return;
  const auto isInMemory = [&](int64_t key) {
    return std::ranges::binary_search(inMemory, key, {}, &TableRow::key);
  };
  const auto add = [&](int64_t key, const StoredRow &row) {
    rows.push_back({key, copyOf(number, row, rows.images)});
  };
  if (!onlyChanged) {
    store->forEach(options().id, number,
                   [&](int64_t key, const StoredRow &row) {
                     if (!isInMemory(key))
                       add(key, row);
                   });
  } else {
    std::vector<int64_t> changed;
    store->collectChanged(options().id, number, changed);
    std::erase_if(changed, isInMemory);
    store->get(options().id, changed, [&](size_t i, const StoredRow &row) {
      if (row.isDirty() && !wasSaved(number, row))
        add(changed[i], row);
    });
  }
  sortByKey(rows);
}

void SpillingTable::collectShard(int number, RowList &rows) const {
  HashTable::collectShard(number, rows);
  const std::vector<TableRow> inMemory = rows;
  addStored(number, inMemory, rows, /*onlyChanged=*/false);
}

void SpillingTable::collectChanged(int number, RowList &rows) const {
  rows.images.clear();
  // What comes in from now on is still in the store as it was.
  std::vector<TableRow> inMemory;
  listShard(number, inMemory);
  sortByKey(inMemory);
  rows.assign(inMemory.begin(), inMemory.end());
  keepChanged(rows);
  addStored(number, inMemory, rows, /*onlyChanged=*/true);
}

void SpillingTable::noteShardSaved(int number) const {
  if (storedIn(number) == 0)
    return;
  const uint32_t count = saves[number].fetch_add(1) + 1;
  store->forgetChanged(options().id, number, count);
}

std::unique_ptr<EmbeddingTable> pdlrt::createSpillingTable(
    TableOptions options, std::shared_ptr<RowStore> store, int64_t keysAtOnce) {
  return std::make_unique<SpillingTable>(
      std::move(options), std::move(store),
      std::clamp<int64_t>(keysAtOnce, 1, mostKeysAtOnce));
}
