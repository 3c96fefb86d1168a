//===- SpillingTable.cpp - Table that spills rows to disk -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The row of a key is either in memory or in a block of its shard
// (SpilledShard.h); most blocks are in the store (RowStore.h). Reading a
// spilled row moves it into memory. Its block is not changed; the row is only
// marked as no longer live there. So a row is written when it leaves memory,
// and nothing is written when it is read back. The index of the blocks tells
// whether a key is new.
//
// Rows are evicted between updates. Rows may be read back concurrently with
// other work, because blocks are read without a lock. The reader compares how
// many times rows of the shard have left memory, before and after reading. If
// this number has changed, it starts again.
//
// A snapshot (TableSnapshot.h) reads rows in memory and in blocks as they were.
// Rows of a shard that it has not read yet are not evicted, so the content of
// the shard stays where it is until then. A row that is read back is copied
// before it is written, like any other row.
//
//===----------------------------------------------------------------------===//

#include "Table/EvictionRank.h"
#include "Table/HashTable.h"
#include "Table/SortRows.h"
#include "Table/SpilledShard.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/FallibleTasks.h"
#include "pdlrt/Table/RowStore.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace pdlrt;

namespace {

class SpillingTable final : public HashTable {
public:
  SpillingTable(TableOptions options, std::shared_ptr<RowStore> rowStore,
                int64_t maxKeys)
      : HashTable(std::move(options), maxKeys),
        place{std::move(rowStore), this->options().id, BlockLayout(rowBytes())},
        spilled(std::make_unique<SpilledShard[]>(shardCount)),
        recent(std::make_unique<std::vector<void *>[]>(shardCount)),
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
  void spillRestored(int first, int end) override;
  void bringIn(int64_t count, const int64_t *keys,
               TableScratch &scratch) override;
  int64_t heldRows() const override;
  size_t bytesOfEvictedRow() const override {
    // An entry of the index takes 64 / 15 bytes, and four fifths of the entries
    // are used. The states of blocks add two bytes per key.
    return 7;
  }
  int64_t erase(int64_t count, const int64_t *keys,
                TableScratch &scratch) override;
  int64_t shardSize(int shard) const override {
    return HashTable::shardSize(shard) + storedIn(shard);
  }
  void collectShard(int shard, RowList &rows) const override;
  void collectChanged(int shard, RowList &rows) const override;
  void noteShardSaved(int shard) const override;
  size_t memoryBytes() const override;

protected:
  int64_t listAtPeriod(int number, int64_t period,
                       std::vector<TableRow> &rows) override;

private:
  /// Key whose row may be in a block.
  struct Wanted {
    int64_t key;
    /// Index of the key in the call.
    int64_t place;
    RowStore::BlockName block;
    bool isOpen;
    uint64_t departures;
  };

  int64_t storedIn(int shard) const {
    return stored[shard].load(std::memory_order_relaxed);
  }
  void noteStored(int number) {
    stored[number].store(int64_t(spilled[number].size()),
                         std::memory_order_relaxed);
  }
  /// Returns true if the changes of a row have been saved since the row left
  /// memory.
  bool wasSaved(int shard, SpilledHead head) const {
    return head.saves < saves[shard].load(std::memory_order_relaxed);
  }
  /// Finds the rows that are in memory. For the other keys, returns the blocks
  /// that may contain their rows.
  std::vector<Wanted> search(int64_t count, const int64_t *keys, void **rows,
                             TableScratch &scratch) const;
  /// Finds the rows of all keys. Rows that are on disk are moved into memory
  /// or, if `images` is not null, copied to `images`. Returns the number of
  /// keys without a row.
  int64_t gather(int64_t count, const int64_t *keys, void **rows,
                 TableScratch &scratch, RowImages *images) const;
  /// Reads the blocks of `wanted` in ascending order, and sets the rows of
  /// their keys. Appends keys that must be searched again to `again`.
  void fetch(std::span<const Wanted> wanted, void **rows, RowImages *images,
             std::vector<Wanted> &again) const;
  /// Sets the row of a key. `block`: content of the block that was read, or
  /// null if the block is not in the store yet. Returns false if rows have left
  /// memory since the search, so that the key must be searched again.
  bool resolve(const Wanted &wanted, const char *block, void **rows,
               RowImages *images) const;
  /// The number of rows to evict from a shard.
  struct Leaving {
    int shard;
    int64_t rows;
  };
  /// Selects the next shards for the eviction of at most `count` rows.
  std::vector<Leaving> takeTurn(int64_t count);
  /// Sets `rows` to those `count` rows of a shard in memory that are evicted
  /// first. Rows that have come into memory since the shard's last eviction are
  /// chosen only if there are not enough others.
  void chooseLeaving(int number, int64_t count, Eviction order,
                     std::vector<TableRow> &rows);
  /// Moves rows of a shard from memory to blocks.
  void spill(int number, std::span<const TableRow> rows);
  /// Returns a copy of a spilled row, with its header.
  void *copyOf(int number, SpilledHead head, const char *row,
               RowImages &images) const;

  const SpilledTable place;
  /// Spilled rows by shard. The lock of the shard protects them.
  std::unique_ptr<SpilledShard[]> spilled;
  /// Indexed by shard: rows that have come into memory since the shard's last
  /// eviction. The next step is about to use the last of them. Some may have
  /// been erased. Protected by the lock of the shard.
  std::unique_ptr<std::vector<void *>[]> recent;
  /// The next shard to be considered for evictions.
  int nextShard = 0;
  /// Indexed by shard: number of rows that are not in memory. Written while the
  /// shard is locked.
  std::unique_ptr<std::atomic<int64_t>[]> stored;
  /// Indexed by shard: number of saves (`SpilledHead::saves`).
  std::unique_ptr<std::atomic<uint32_t>[]> saves;
};

} // namespace

/// Cost of reading or writing a row in a block, in bytes: the measure of work
/// by which ranges are split among threads.
static constexpr double bytesOfRead = 4096;

//===----------------------------------------------------------------------===//
// Reading rows back
//===----------------------------------------------------------------------===//

std::vector<SpillingTable::Wanted>
SpillingTable::search(int64_t count, const int64_t *keys, void **rows,
                      TableScratch &scratch) const {
  std::vector<Wanted> wanted;
  bool isOutOfMemory = false;
  for (int64_t begin = 0; begin < count; begin += keysAtOnce) {
    const int64_t some = std::min(keysAtOnce, count - begin);
    forEachKey(
        some, sortByShard(some, keys + begin, scratch),
        [&](int number, const Shard &shard, int64_t key, uint64_t mixed,
            int32_t at) {
          uint32_t row = 0;
          if (shard.index.find(mixed, row)) {
            rows[begin + at] = rowAt(number, row);
            return;
          }
          rows[begin + at] = nullptr;
          const SpilledShard &others = spilled[number];
          others.find(mixed, [&](uint32_t block) {
            try {
              wanted.push_back({key,
                                begin + at,
                                {number, block},
                                others.isOpen(block),
                                departuresOf(number)});
            } catch (const std::bad_alloc &) {
              // Locks are released first.
              isOutOfMemory = true;
            }
          });
        },
        [&](int number, uint64_t mixed) { spilled[number].prefetch(mixed); });
  }
  if (isOutOfMemory)
    throw std::bad_alloc();
  return wanted;
}

bool SpillingTable::resolve(const Wanted &wanted, const char *block,
                            void **rows, RowImages *images) const {
  // The table's internal state changes, but not its observable rows.
  auto &self = const_cast<SpillingTable &>(*this);
  const int number = wanted.block.shard;
  const uint64_t mixed = pdlabi::mixKey(uint64_t(wanted.key));
  void *&row = rows[wanted.place];
  const MutexLock lock(self.mutexOf(number));
  if (void *found = self.findLocked(number, mixed)) {
    row = found;
    return true;
  }
  if (departuresOf(number) != wanted.departures)
    return false;
  SpilledShard &shard = self.spilled[number];
  if (wanted.isOpen)
    block = shard.open();
  const BlockLayout &layout = place.layout;
  const int slot = shard.slotOf(layout, wanted.block.number, block, wanted.key);
  // The index cannot distinguish all keys: the block has another key that looks
  // the same, so this key has no row there.
  if (slot < 0)
    return true;
  const SpilledHead head = layout.headAt(block, uint32_t(slot));
  const char *bytes = layout.rowAt(block, uint32_t(slot));
  if (images) {
    row = copyOf(number, head, bytes, *images);
    return true;
  }
  // Operations that may throw come first, so that nothing has changed then.
  std::vector<void *> &recentRows = self.recent[number];
  recentRows.push_back(nullptr);
  row = self.takeIn(number, mixed, bytes, head.noted, wasSaved(number, head));
  recentRows.back() = row;
  if (TableSnapshot *reading = snapshot()) {
    reading->noteBroughtIn(wanted.key, row);
    // The shard may have been read since.
    if (wasSaved(number, head))
      this->layout().headerOf(row).noteSaved();
  }
  shard.remove(layout, wanted.block.number, uint32_t(slot), wanted.key);
  self.noteStored(number);
  return true;
}

void SpillingTable::fetch(std::span<const Wanted> wanted, void **rows,
                          RowImages *images, std::vector<Wanted> &again) const {
  const auto take = [&](const Wanted &one, const char *block) {
    if (!resolve(one, block, rows, images))
      again.push_back(one);
  };
  // Indices of the first key of each block.
  std::vector<RowStore::BlockName> names;
  std::vector<size_t> begins;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].isOpen) {
      take(wanted[i], nullptr);
    } else if (names.empty() || names.back() != wanted[i].block) {
      names.push_back(wanted[i].block);
      begins.push_back(i);
    }
  }
  place.store->get(
      place.id, names, place.layout.bytes(), [&](size_t i, const char *block) {
        for (size_t at = begins[i];
             at < wanted.size() && wanted[at].block == names[i]; ++at)
          take(wanted[at], block);
      });
}

int64_t SpillingTable::gather(int64_t count, const int64_t *keys, void **rows,
                              TableScratch &scratch, RowImages *images) const {
  std::vector<Wanted> wanted = search(count, keys, rows, scratch);
  while (!wanted.empty()) {
    const TraceSpan span("load spilled rows", {int64_t(wanted.size())});
    std::ranges::sort(wanted, {}, &Wanted::block);
    std::vector<Wanted> again;
    if (images) {
      fetch(wanted, rows, images, again);
    } else {
      Mutex mutex;
      fallibleRanges(
          int64_t(wanted.size()), double(wanted.size()) * bytesOfRead,
          [&](int64_t begin, int64_t end) {
            std::vector<Wanted> own;
            fetch(std::span(wanted).subspan(size_t(begin), size_t(end - begin)),
                  rows, images, own);
            const MutexLock lock(mutex);
            again.insert(again.end(), own.begin(), own.end());
          });
    }
    // Map indices of the call to those of a shorter one, and back.
    std::vector<int64_t> requestedKeys(again.size());
    std::vector<void *> found(again.size());
    std::ranges::transform(again, requestedKeys.begin(), &Wanted::key);
    wanted = search(int64_t(again.size()), requestedKeys.data(), found.data(),
                    scratch);
    for (size_t i = 0; i < again.size(); ++i)
      if (found[i])
        rows[again[i].place] = found[i];
    for (Wanted &one : wanted)
      one.place = again[size_t(one.place)].place;
  }
  return std::count(rows, rows + count, nullptr);
}

int64_t SpillingTable::find(int64_t count, const int64_t *keys, void **rows,
                            TableScratch &scratch) const {
  return gather(count, keys, rows, scratch, nullptr);
}

int64_t SpillingTable::look(int64_t count, const int64_t *keys, void **rows,
                            TableScratch &scratch, RowImages &images) const {
  return gather(count, keys, rows, scratch, &images);
}

void SpillingTable::bringIn(int64_t count, const int64_t *keys,
                            TableScratch &scratch) {
  std::vector<void *> rows(static_cast<size_t>(count));
  find(count, keys, rows.data(), scratch);
}

Status SpillingTable::findOrInsert(int64_t count, const int64_t *keys,
                                   void **rows, TableScratch &scratch,
                                   int64_t &inserted) {
  find(count, keys, rows, scratch);
  return HashTable::findOrInsert(count, keys, rows, scratch, inserted);
}

Status SpillingTable::insertShard(int number, int64_t count,
                                  const int64_t *keys, void **rows,
                                  NewRow content) {
  TableScratch scratch;
  find(count, keys, rows, scratch);
  return HashTable::insertShard(number, count, keys, rows, content);
}

Status SpillingTable::admit(int64_t count, const int64_t *keys,
                            const int64_t *occurrences, void **rows,
                            TableScratch &scratch, int64_t &inserted) {
  // Most rows are in memory, because the step has looked them up, or are new.
  std::vector<int64_t> left;
  PDLRT_RETURN_IF_ERROR(admitUnless(
      count, keys, occurrences, rows, scratch, inserted,
      [&](int number, uint64_t mixed, int64_t key) {
        bool isElsewhere = false;
        spilled[number].find(mixed, [&](uint32_t) { isElsewhere = true; });
        if (isElsewhere)
          left.push_back(key);
        return isElsewhere;
      },
      [&](int number, uint64_t mixed) { spilled[number].prefetch(mixed); }));
  if (left.empty())
    return {};
  std::vector<int64_t> keysLeft(left.size()), occurrencesLeft(left.size());
  std::vector<void *> found(left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    keysLeft[i] = keys[left[i]];
    occurrencesLeft[i] = occurrences[left[i]];
  }
  find(int64_t(left.size()), keysLeft.data(), found.data(), scratch);
  PDLRT_RETURN_IF_ERROR(HashTable::admit(int64_t(left.size()), keysLeft.data(),
                                         occurrencesLeft.data(), found.data(),
                                         scratch, inserted));
  for (size_t i = 0; i < left.size(); ++i)
    rows[left[i]] = found[i];
  return {};
}

//===----------------------------------------------------------------------===//
// Evicting rows
//===----------------------------------------------------------------------===//

int64_t SpillingTable::heldRows() const {
  int64_t sum = 0;
  for (int shard = 0; shard < shardCount; ++shard)
    sum += HashTable::shardSize(shard);
  return sum;
}

void SpillingTable::spill(int number, std::span<const TableRow> rows) {
  if (rows.empty())
    return;
  SpilledShard &shard = spilled[number];
  const MutexLock lock(mutexOf(number));
  reserveReleased(number, rows.size());
  size_t kept = 0;
  const auto leave = [&]() PDLRT_REQUIRES(mutexOf(number)) {
    release(number, rows.first(kept));
    noteStored(number);
  };
  // Rows that have not been used for long are in no cache, so prefetch them. If
  // rows are long, the processor prefetches the rest itself.
  constexpr size_t ahead = 8, maxBytes = 512;
  const auto prefetch = [&](size_t next) {
    if (next >= rows.size())
      return;
    shard.prefetch(pdlabi::mixKey(uint64_t(rows[next].key)));
    const auto *bytes = static_cast<const char *>(rows[next].row);
    for (size_t at = 0; at < std::min(rowBytes(), maxBytes); at += 64)
      __builtin_prefetch(bytes + at);
  };
  for (size_t next = 0; next < ahead; ++next)
    prefetch(next);
  try {
    for (; kept < rows.size(); ++kept) {
      prefetch(kept + ahead);
      shard.add(place, number, rows[kept].key,
                {layout().headerOf(rows[kept].row).noted(), saves[number]},
                rows[kept].row);
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
  shard.clean(place, number);
}

void SpillingTable::chooseLeaving(int number, int64_t count, Eviction order,
                                  std::vector<TableRow> &rows) {
  std::vector<void *> needed;
  {
    const MutexLock lock(mutexOf(number));
    listLockedShard(number, rows);
    needed.swap(recent[number]);
  }
  std::ranges::sort(needed);
  struct Ranked {
    uint32_t rank;
    TableRow row;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(rows.size());
  const uint16_t now = time();
  // Headers are rarely in a cache, so prefetch.
  constexpr size_t ahead = 16;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + ahead < rows.size())
      __builtin_prefetch(&layout().headerOf(rows[i + ahead].row));
    const auto rank =
        EvictionRank::of(layout().headerOf(rows[i].row), now, order);
    ranked.push_back({std::ranges::binary_search(needed, rows[i].row)
                          ? UINT32_MAX
                          : rank.first << 16 | rank.second,
                      rows[i]});
  }
  const size_t leaving = std::min(rows.size(), size_t(count));
  std::ranges::nth_element(ranked, ranked.begin() + int64_t(leaving), {},
                           &Ranked::rank);
  for (size_t i = 0; i < leaving; ++i)
    rows[i] = ranked[i].row;
  rows.resize(leaving);
}

std::vector<SpillingTable::Leaving> SpillingTable::takeTurn(int64_t count) {
  // Examining a row costs as much time as writing it. So only some of the
  // shards are examined in each call, in turn, if at least half of their rows
  // can stay. Which rows are evicted does not change any result.
  constexpr int64_t maxTurns = 4;
  const int64_t all = heldRows();
  count = std::clamp<int64_t>(count, 0, all);
  const int64_t wanted = std::max(all / maxTurns, std::min(all, 2 * count));
  const TableSnapshot *reading = snapshot();
  std::vector<Leaving> shards;
  int64_t sum = 0;
  for (int i = 0; i < shardCount && sum < wanted; ++i) {
    const int number = nextShard;
    nextShard = (nextShard + 1) % shardCount;
    const int64_t rows = HashTable::shardSize(number);
    if (rows == 0 || (reading && !reading->isPassed(number)))
      continue;
    shards.push_back({number, rows});
    sum += rows;
  }
  // During a save, only few shards may evict rows. They still keep half of
  // their rows, or as many as other shards would.
  const double share = std::min(
      double(count) / double(std::max<int64_t>(1, sum)),
      std::max(0.5, double(count) / double(std::max<int64_t>(1, all))));
  double before = 0;
  for (Leaving &shard : shards) {
    const double after = before + share * double(shard.rows);
    shard.rows = std::llround(after) - std::llround(before);
    before = after;
  }
  return shards;
}

int64_t SpillingTable::evict(int64_t count, Eviction order) {
  const TraceSpan span("spill", {count});
  const std::vector<Leaving> shards = takeTurn(count);
  std::atomic<int64_t> leaving{0};
  fallibleRanges(int64_t(shards.size()), double(count) * bytesOfRead,
                 [&](int64_t begin, int64_t end) {
                   std::vector<TableRow> rows;
                   for (int64_t i = begin; i < end; ++i) {
                     const auto [number, some] = shards[size_t(i)];
                     if (some == 0)
                       continue;
                     chooseLeaving(number, some, order, rows);
                     spill(number, rows);
                     leaving += int64_t(rows.size());
                   }
                 });
  return leaving;
}

void SpillingTable::spillRestored(int first, int end) {
  std::vector<TableRow> rows;
  for (int number = first; number < end; ++number) {
    listShard(number, rows);
    spill(number, rows);
  }
  reuseErased(first, end);
  // Each shard is processed once, and the next ones need its memory.
  giveBack(first, end);
}

int64_t SpillingTable::erase(int64_t count, const int64_t *keys,
                             TableScratch &scratch) {
  std::vector<void *> rows(static_cast<size_t>(count));
  find(count, keys, rows.data(), scratch);
  return HashTable::erase(count, keys, scratch);
}

int64_t SpillingTable::listAtPeriod(int number, int64_t period,
                                    std::vector<TableRow> &rows) {
  // The lock makes a thread wait that reads a row back concurrently. That
  // thread then sees that rows have left memory, and reads again: its content
  // is from the time before this period.
  const MutexLock lock(mutexOf(number));
  listLockedShard(number, rows);
  if (storedIn(number) == 0)
    return 0;
  const bool isRewritten = !options().life.scoreWeights.empty();
  TableSnapshot *reading = snapshot();
  // A save in progress that marks rows as saved does not have the content that
  // is written here. `isPassed` must be read before `saves`. In the other
  // order, a save that ends in between would be counted neither way.
  const bool isBeingSaved =
      reading && reading->notesSaved() && !reading->isPassed(number);
  const uint32_t count = saves[number] + isBeingSaved;
  RowImages images;
  void *copy = images.take(layout());
  int64_t erased = 0;
  using Change = SpilledShard::Change;
  const auto change = [&](int64_t key, SpilledHead &head,
                          char *bytes) PDLRT_REQUIRES(mutexOf(number)) {
    std::memcpy(copy, bytes, rowBytes());
    layout().headerOf(copy).restore(head.noted, time(), wasSaved(number, head));
    if (reading && isRewritten)
      reading->noteRewritten(key, copy);
    if (passesOut(copy, period)) {
      if (reading)
        reading->noteErased(key, copy);
      trackErasedKey(number, key);
      ++erased;
      return Change::Gone;
    }
    if (!isRewritten)
      return Change::None;
    head = {layout().headerOf(copy).noted(), count};
    std::memcpy(bytes, copy, rowBytes());
    return Change::Written;
  };
  const auto note = [&]() PDLRT_REQUIRES(mutexOf(number)) {
    noteStored(number);
    noteDeparture(number);
  };
  try {
    spilled[number].rewrite(place, number, change);
  } catch (...) {
    note();
    throw;
  }
  note();
  return erased;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

void *SpillingTable::copyOf(int number, SpilledHead head, const char *row,
                            RowImages &images) const {
  void *copy = images.take(layout());
  std::memcpy(copy, row, rowBytes());
  layout().headerOf(copy).restore(head.noted, time(), wasSaved(number, head));
  return copy;
}

void SpillingTable::collectShard(int number, RowList &rows) const {
  rows.images.clear();
  SpilledShard::View others;
  {
    // Rows that are brought in after this are in the view as they were.
    const MutexLock lock(mutexOf(number));
    listLockedShard(number, rows);
    others = spilled[number].view(place, number);
  }
  others.forEach([&](int64_t key, SpilledHead head, const char *row) {
    rows.push_back({key, copyOf(number, head, row, rows.images)});
  });
  sortByKey(rows);
}

void SpillingTable::collectChanged(int number, RowList &rows) const {
  rows.images.clear();
  SpilledShard::View others;
  {
    const MutexLock lock(mutexOf(number));
    listLockedShard(number, rows);
    others = spilled[number].view(place, number);
  }
  keepChanged(rows);
  others.forEachChanged(
      saves[number], [&](int64_t key, SpilledHead head, const char *row) {
        if (head.isDirty() && !wasSaved(number, head))
          rows.push_back({key, copyOf(number, head, row, rows.images)});
      });
  sortByKey(rows);
}

void SpillingTable::noteShardSaved(int number) const {
  if (storedIn(number) > 0)
    ++saves[number];
}

size_t SpillingTable::memoryBytes() const {
  size_t sum = HashTable::memoryBytes() + shardCount * sizeof(SpilledShard);
  for (int number = 0; number < shardCount; ++number) {
    const MutexLock lock(mutexOf(number));
    sum += spilled[number].memoryBytes();
  }
  return sum;
}

std::unique_ptr<EmbeddingTable> pdlrt::createSpillingTable(
    TableOptions options, std::shared_ptr<RowStore> store, int64_t keysAtOnce) {
  return std::make_unique<SpillingTable>(
      std::move(options), std::move(store),
      std::clamp<int64_t>(keysAtOnce, 1, maxKeysAtOnce));
}
