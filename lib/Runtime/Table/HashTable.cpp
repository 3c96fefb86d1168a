//===- HashTable.cpp - Shards of keys and their rows ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Table/HashTable.h"

#include "Table/EvictionRank.h"
#include "Table/SortRows.h"
#include "pdlabi/admission.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/FallibleTasks.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace pdlrt;

HashTable::Batch HashTable::sortByShard(int64_t count, const int64_t *keys,
                                        TableScratch &scratch) {
  auto *sortedKeys = scratch.keys.reserveFor<int64_t>(count);
  auto *mixed = scratch.mixed.reserveFor<uint64_t>(count);
  auto *order = scratch.order.reserveFor<int32_t>(count);
  int32_t begins[shardCount + 1] = {};
  for (int64_t i = 0; i < count; ++i)
    ++begins[pdlabi::shardOfKey(keys[i]) + 1];
  for (int shard = 0; shard < shardCount; ++shard)
    begins[shard + 1] += begins[shard];
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = pdlabi::mixKey(uint64_t(keys[i]));
    const int32_t place = begins[pdlabi::shardOfMixedKey(key)]++;
    sortedKeys[place] = keys[i];
    mixed[place] = key;
    order[place] = int32_t(i);
  }
  return {sortedKeys, mixed, order};
}

template <typename Found>
Status HashTable::insertAll(int64_t count, const int64_t *keys,
                            TableScratch &scratch, int64_t &inserted,
                            Found found) {
  for (int64_t begin = 0; begin < count; begin += keysAtOnce)
    PDLRT_RETURN_IF_ERROR(insertSlice(
        std::min(keysAtOnce, count - begin), keys + begin, scratch, inserted,
        [](auto &&...) { return true; },
        [&](int32_t place, int number, uint32_t row) {
          found(begin + place, number, row);
        },
        [](int, uint64_t) {}));
  return {};
}

Status HashTable::findOrInsert(int64_t count, const int64_t *keys, void **rows,
                               TableScratch &scratch, int64_t &inserted) {
  return insertAll(count, keys, scratch, inserted,
                   [&](int64_t key, int number, uint32_t row) {
                     rows[key] = rowAt(number, row);
                   });
}

Status HashTable::pull(int64_t count, const int64_t *keys, RowHandle *handles,
                       TableScratch &scratch, int64_t &inserted) {
  return insertAll(count, keys, scratch, inserted,
                   [&](int64_t key, int number, uint32_t row) {
                     handles[key] = RowHandle(number, row);
                   });
}

void HashTable::rowsOf(int64_t count, const RowHandle *handles,
                       void **rows) const {
  for (int64_t i = 0; i < count; ++i)
    rows[i] = rowAt(handles[i].shard(), handles[i].index());
}

int64_t HashTable::find(int64_t count, const int64_t *keys, void **rows,
                        TableScratch &scratch) const {
  int64_t missing = 0;
  for (int64_t begin = 0; begin < count; begin += keysAtOnce)
    missing += findSlice(std::min(keysAtOnce, count - begin), keys + begin,
                         rows + begin, scratch);
  return missing;
}

/// Returns the phase of a shard's sizes. Shards grow at different times, so
/// that no step is slowed down by the growth of all shards, and the table's
/// memory per key is nearly constant while it grows.
static double phaseOf(int shard) {
  return double(shard) / EmbeddingTable::shardCount;
}

Status HashTable::makeRow(int number, Shard &shard, uint64_t mixed,
                          uint32_t &row) {
  RowPool &rows = rowsOfShard(number);
  const uint64_t next = rows.reserve(memory);
  if (next >> Bucket::rowBits)
    return Status::outOfMemory(
        "table @" + options().name +
        " has as many rows as the numbers of one process's rows allow, 2^30 in "
        "some sixteen shards; use more servers");
  row = uint32_t(next);
  shard.index.insert(mixed, row, phaseOf(number), buckets);
  rows.take();
  shard.rowCount.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status HashTable::insertRow(int number, Shard &shard, int64_t key,
                            uint64_t mixed, NewRow content, uint32_t &row) {
  if (TableSnapshot *reading = snapshot())
    reading->noteNew(key);
  PDLRT_RETURN_IF_ERROR(makeRow(number, shard, mixed, row));
  uint32_t bits = 0;
  if (waiting && waiting[number].size() > 0)
    waits -= waiting[number].erase(mixed, bits);
  char *memoryOfRow = rowAt(number, row);
  // The next new row usually follows this one in memory, so prefetch it. If
  // rows are long, the processor prefetches the rest itself.
  constexpr size_t ahead = 4, maxBytes = 512;
  const size_t stride = layout().stride();
  for (size_t byte = 0; byte < std::min(stride, maxBytes); byte += 64)
    __builtin_prefetch(memoryOfRow + ahead * stride + byte, 1);
  layout().headerOf(memoryOfRow).begin(time());
  if (content == NewRow::Initial)
    initialRow(key, memoryOfRow);
  return {};
}

template <typename Admits, typename Found, typename Ahead>
Status HashTable::insertSlice(int64_t count, const int64_t *keys,
                              TableScratch &scratch, int64_t &inserted,
                              Admits admits, Found found, Ahead prefetch) {
  Status status;
  bool outOfMemory = false;
  forEachKey(
      count, sortByShard(count, keys, scratch),
      [&](int number, Shard &shard, int64_t key, uint64_t mixed,
          int32_t place) PDLRT_REQUIRES(mutexOf(number)) {
        uint32_t row = 0;
        if (!shard.index.find(mixed, row)) {
          if (outOfMemory || !status.ok())
            return;
          try {
            if (!admits(number, shard, key, mixed, place))
              return;
            status = insertRow(number, shard, key, mixed, NewRow::Initial, row);
            if (scratch.newRows && status.ok())
              scratch.newRows->push_back({key, rowAt(number, row)});
          } catch (const std::bad_alloc &) {
            // The exception is thrown later, after all locks are released.
            outOfMemory = true;
          }
          if (outOfMemory || !status.ok())
            return;
          ++inserted;
        }
        found(place, number, row);
      },
      prefetch);
  if (outOfMemory)
    throw std::bad_alloc();
  return status;
}

Status HashTable::insertShard(int number, int64_t count, const int64_t *keys,
                              void **rows, NewRow content) {
  constexpr int64_t ahead = 16;
  Shard &shard = shards[number];
  const MutexLock lock(groups[number / shardsOfLock].mutex);
  shard.index.reserve(uint64_t(count), phaseOf(number), buckets);
  for (int64_t i = 0; i < count; ++i) {
    if (i + ahead < count)
      shard.index.prefetch(pdlabi::mixKey(uint64_t(keys[i + ahead])));
    const uint64_t mixed = pdlabi::mixKey(uint64_t(keys[i]));
    uint32_t row = 0;
    const bool isNew = !shard.index.find(mixed, row);
    if (isNew)
      PDLRT_RETURN_IF_ERROR(
          insertRow(number, shard, keys[i], mixed, content, row));
    rows[i] = rowAt(number, row);
    // A row from a checkpoint is already saved there.
    if (isNew && content == NewRow::Open)
      layout().headerOf(rows[i]).noteSaved();
  }
  return {};
}

int64_t HashTable::erase(int64_t count, const int64_t *keys,
                         TableScratch &scratch) {
  int64_t erased = 0;
  for (int64_t begin = 0; begin < count; begin += keysAtOnce)
    erased +=
        eraseSlice(std::min(keysAtOnce, count - begin), keys + begin, scratch);
  return erased;
}

/// Reserves memory for `count` more keys. First removes duplicates, because a
/// key may have been erased several times. So the list is never much longer
/// than the number of distinct keys.
static void makeRoom(std::vector<int64_t> &keys, size_t count) {
  if (keys.size() + count <= keys.capacity())
    return;
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  if (keys.size() + count > keys.capacity() / 4 * 3)
    keys.reserve(std::max(2 * keys.size(), keys.size() + count + 16));
}

int64_t HashTable::eraseSlice(int64_t count, const int64_t *keys,
                              TableScratch &scratch) {
  int64_t erased = 0;
  bool outOfMemory = false;
  const bool isTracked = tracksErased.load(std::memory_order_relaxed);
  forEachKey(count, sortByShard(count, keys, scratch),
             [&](int number, Shard &shard, int64_t key, uint64_t mixed, int32_t)
                 PDLRT_REQUIRES(mutexOf(number)) {
                   uint32_t row = 0;
                   std::vector<int64_t> &tracked =
                       groups[number / shardsOfLock].erasedKeys;
                   try {
                     rowsOfShard(number).reserveErased(1);
                     if (isTracked)
                       makeRoom(tracked, 1);
                     TableSnapshot *reading = snapshot();
                     if (reading && shard.index.find(mixed, row))
                       reading->noteErased(key, rowAt(number, row));
                   } catch (const std::bad_alloc &) {
                     outOfMemory = true;
                   }
                   if (outOfMemory || !shard.index.erase(mixed, row))
                     return;
                   if (isTracked)
                     tracked.push_back(key);
                   rowsOfShard(number).erase(row);
                   noteDeparture(number);
                   hasErased.store(true, std::memory_order_relaxed);
                   shard.rowCount.fetch_sub(1, std::memory_order_relaxed);
                   ++erased;
                 });
  if (outOfMemory)
    throw std::bad_alloc();
  return erased;
}

void HashTable::quiesce(uint16_t time) {
  now.store(time & RowHeader::timeMask, std::memory_order_relaxed);
  // Most steps erase nothing and need no locks.
  if (!hasErased.load(std::memory_order_relaxed))
    return;
  bool isWaiting = false;
  hasErased.store(false, std::memory_order_relaxed);
  for (Group &group : groups) {
    const MutexLock lock(group.mutex);
    isWaiting |= group.rows.quiesce();
  }
  if (isWaiting)
    hasErased.store(true, std::memory_order_relaxed);
}

void HashTable::reuseErased(int first, int end) {
  for (int g = first / shardsOfLock; g * shardsOfLock < end; ++g) {
    const MutexLock lock(groups[g].mutex);
    // Repeat until no row waits, as two updates would do.
    while (groups[g].rows.quiesce())
      ;
  }
}

int64_t HashTable::findSlice(int64_t count, const int64_t *keys, void **rows,
                             TableScratch &scratch) const {
  int64_t missing = 0;
  forEachKey(count, sortByShard(count, keys, scratch),
             [&](int number, const Shard &shard, int64_t, uint64_t mixed,
                 int32_t place) {
               uint32_t row = 0;
               const bool found = shard.index.find(mixed, row);
               rows[place] = found ? rowAt(number, row) : nullptr;
               missing += !found;
             });
  return missing;
}

//===----------------------------------------------------------------------===//
// Feature admission and eviction
//===----------------------------------------------------------------------===//

bool HashTable::isAdmitted(int number, int64_t key, uint64_t mixed,
                           int64_t occurrences) {
  const TableLife &life = options().life;
  if (life.admission == PDL_ADMIT_PROBABILITY)
    return pdlabi::isDrawn(life.admissionProbability, options().seed,
                           options().id, key);
  if (!life.notesWaiting())
    return true;
  uint32_t bits = 0;
  const bool isWaiting = waiting[number].find(mixed, bits);
  const int64_t sum = std::max<int64_t>(occurrences, 0) +
                      (isWaiting ? WaitingBits(bits).count() : 0);
  if (sum >= life.admissionCount)
    return true;
  // Nothing to record.
  if (sum == 0)
    return false;
  const WaitingBits noted(sum, period(), /*isDirty=*/true);
  if (isWaiting)
    waiting[number].replace(mixed, noted.bits());
  else {
    waiting[number].insert(mixed, noted.bits(), phaseOf(number), buckets);
    ++waits;
  }
  return false;
}

template <typename Admits, typename Ahead>
Status HashTable::admitAll(int64_t count, const int64_t *keys, void **rows,
                           TableScratch &scratch, int64_t &inserted,
                           Admits admits, Ahead prefetch) {
  std::fill_n(rows, count, nullptr);
  for (int64_t begin = 0; begin < count; begin += keysAtOnce)
    PDLRT_RETURN_IF_ERROR(insertSlice(
        std::min(keysAtOnce, count - begin), keys + begin, scratch, inserted,
        [&](int number, Shard &shard, int64_t key, uint64_t mixed,
            int32_t place) PDLRT_REQUIRES(mutexOf(number)) {
          return admits(number, shard, key, mixed, begin + place);
        },
        [&](int32_t place, int number, uint32_t row) {
          rows[begin + place] = rowAt(number, row);
        },
        prefetch));
  return {};
}

Status HashTable::admit(int64_t count, const int64_t *keys,
                        const int64_t *occurrences, void **rows,
                        TableScratch &scratch, int64_t &inserted) {
  return admitAll(
      count, keys, rows, scratch, inserted,
      [&](int number, Shard &, int64_t key, uint64_t mixed, int64_t i)
          PDLRT_REQUIRES(mutexOf(number)) {
            return isAdmitted(number, key, mixed, occurrences[i]);
          },
      [](int, uint64_t) {});
}

Status HashTable::admitUnless(int64_t count, const int64_t *keys,
                              const int64_t *occurrences, void **rows,
                              TableScratch &scratch, int64_t &inserted,
                              const Elsewhere &isElsewhere,
                              const Prefetch &prefetch) {
  return admitAll(
      count, keys, rows, scratch, inserted,
      [&](int number, Shard &, int64_t key, uint64_t mixed, int64_t i)
          PDLRT_REQUIRES(mutexOf(number)) {
            return !isElsewhere(number, mixed, i) &&
                   isAdmitted(number, key, mixed, occurrences[i]);
          },
      [&](int number, uint64_t mixed) { prefetch(number, mixed); });
}

bool HashTable::passesOut(void *row, int64_t period) const {
  const TableLife &life = options().life;
  bool goes = period - 1 - options().periodOf(row) >= life.shrinkUnseen;
  if (!life.scoreWeights.empty()) {
    goes |= options().decay(row) < life.shrinkLeast;
    layout().headerOf(row).noteWrite();
  }
  return goes;
}

void HashTable::listUnseen(const std::vector<TableRow> &rows, int64_t period,
                           std::vector<int64_t> &keys) {
  constexpr size_t ahead = 16;
  const size_t last = rowBytes() - 1;
  // If a save in progress still needs these rows, copy them here, where it is
  // allowed to wait for memory.
  TableSnapshot *reading = snapshot();
  const bool isRewritten = !options().life.scoreWeights.empty();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + ahead < rows.size())
      __builtin_prefetch(static_cast<char *>(rows[i + ahead].row) + last);
    void *row = rows[i].row;
    if (reading && isRewritten)
      reading->preserve(1, &rows[i].key, &row);
    if (!passesOut(row, period))
      continue;
    if (reading && !isRewritten)
      reading->preserve(1, &rows[i].key, &row);
    keys.push_back(rows[i].key);
  }
}

int64_t HashTable::listAtPeriod(int number, int64_t,
                                std::vector<TableRow> &rows) {
  listShard(number, rows);
  return 0;
}

void HashTable::dropUnseenWaiting(int number, int64_t period,
                                  std::vector<uint64_t> &keys) {
  keys.clear();
  if (!waiting)
    return;
  const MutexLock lock(groups[number / shardsOfLock].mutex);
  const TableLife &life = options().life;
  std::vector<std::pair<uint64_t, WaitingBits>> decayed;
  waiting[number].forEach([&](uint64_t key, uint32_t bits) {
    const uint64_t mixed = uint64_t(number) << Bucket::keyBits | key;
    const WaitingBits noted(bits);
    const int64_t left =
        life.waitingDecays()
            ? pdlabi::decayedUnits(noted.count(), life.shrinkDecay)
            : noted.count();
    if (noted.age(period - 1) >= life.shrinkUnseen || left == 0)
      keys.push_back(mixed);
    else if (life.waitingDecays())
      decayed.emplace_back(mixed, noted.withCount(left));
  });
  for (const auto &[mixed, noted] : decayed)
    waiting[number].replace(mixed, noted.bits());
  std::vector<int64_t> &tracked = groups[number / shardsOfLock].erasedKeys;
  const bool isTracked = tracksErased.load(std::memory_order_relaxed);
  if (isTracked)
    makeRoom(tracked, keys.size());
  uint32_t bits = 0;
  for (uint64_t key : keys) {
    waits -= waiting[number].erase(key, bits);
    if (isTracked)
      tracked.push_back(int64_t(pdlabi::unmixKey(key)));
  }
}

int64_t HashTable::beginPeriod(int64_t period) {
  const TraceSpan span("shrink");
  std::atomic<int64_t> erased{0};
  fallibleRanges(shardCount, double(size()) * double(layout().stride()),
                 [&](int64_t begin, int64_t end) {
                   std::vector<TableRow> rows;
                   std::vector<int64_t> keys;
                   std::vector<uint64_t> waiting;
                   TableScratch scratch;
                   for (int64_t s = begin; s < end; ++s) {
                     keys.clear();
                     erased += listAtPeriod(int(s), period, rows);
                     listUnseen(rows, period, keys);
                     dropUnseenWaiting(int(s), period, waiting);
                     erased +=
                         erase(int64_t(keys.size()), keys.data(), scratch);
                   }
                 });
  currentPeriod.store(period, std::memory_order_relaxed);
  return erased;
}

/// Returns the smallest rank for which the sum of `counts` up to this rank is
/// at least `wanted`, or the last rank if the sum is never that large.
/// Subtracts the counts of smaller ranks from `wanted`.
static uint32_t rankOf(const std::vector<int64_t> &counts, int64_t &wanted) {
  uint32_t rank = 0;
  while (rank + 1 < counts.size() && counts[rank] < wanted)
    wanted -= counts[rank++];
  return rank;
}

int64_t HashTable::evict(int64_t count, Eviction order) {
  const TraceSpan span("evict", {count});
  const int64_t all = size();
  count = std::min(count, all);
  if (count <= 0)
    return 0;
  const uint16_t now = time();
  std::vector<TableRow> rows;
  const auto forEachRank = [&](auto visit) {
    constexpr size_t ahead = 16;
    for (int s = 0; s < shardCount; ++s) {
      listShard(s, rows);
      for (size_t i = 0; i < rows.size(); ++i) {
        if (i + ahead < rows.size())
          __builtin_prefetch(&layout().headerOf(rows[i + ahead].row));
        visit(EvictionRank::of(layout().headerOf(rows[i].row), now, order));
      }
    }
  };
  int64_t left = count;
  std::vector<int64_t> counts(EvictionRank::count);
  forEachRank([&](EvictionRank rank) { ++counts[rank.first]; });
  const uint32_t first = rankOf(counts, left);
  counts.assign(EvictionRank::count, 0);
  forEachRank([&](EvictionRank rank) {
    if (rank.first == first)
      ++counts[rank.second];
  });
  const uint32_t second = rankOf(counts, left);
  int64_t evicted = 0;
  std::vector<int64_t> keys;
  TableScratch scratch;
  // If a save in progress still needs these rows, copy them before a mutex is
  // locked, because this may wait for memory.
  TableSnapshot *reading = snapshot();
  for (int s = 0; s < shardCount; ++s) {
    listShard(s, rows);
    sortByKey(rows);
    keys.clear();
    for (const TableRow &row : rows) {
      const EvictionRank rank =
          EvictionRank::of(layout().headerOf(row.row), now, order);
      const bool isEqual = rank.first == first && rank.second == second;
      if (rank.first < first || (rank.first == first && rank.second < second) ||
          (isEqual && left-- > 0)) {
        keys.push_back(row.key);
        void *leaving = row.row;
        if (reading)
          reading->preserve(1, &row.key, &leaving);
      }
    }
    evicted += erase(int64_t(keys.size()), keys.data(), scratch);
  }
  return evicted;
}

void HashTable::collectWaiting(int number, bool onlyChanged, bool areSaved,
                               std::vector<WaitingKey> &keys) {
  keys.clear();
  if (!waiting)
    return;
  const MutexLock lock(groups[number / shardsOfLock].mutex);
  keys.reserve(waiting[number].size());
  waiting[number].forEach([&](uint64_t key, uint32_t bits) {
    const uint64_t mixed = uint64_t(number) << Bucket::keyBits | key;
    if (!onlyChanged || WaitingBits(bits).isDirty())
      keys.push_back({int64_t(pdlabi::unmixKey(mixed)), WaitingBits(bits)});
  });
  for (const WaitingKey &each : keys)
    if (areSaved && each.bits.isDirty())
      waiting[number].replace(pdlabi::mixKey(uint64_t(each.key)),
                              each.bits.saved().bits());
  std::ranges::sort(keys, {}, &WaitingKey::key);
}

void HashTable::restoreWaiting(int number, std::span<const WaitingKey> keys) {
  if (!waiting)
    return;
  const MutexLock lock(groups[number / shardsOfLock].mutex);
  for (const WaitingKey &each : keys) {
    const uint64_t mixed = pdlabi::mixKey(uint64_t(each.key));
    uint32_t bits = 0;
    if (each.bits.bits() == 0) {
      waits -= waiting[number].erase(mixed, bits);
    } else if (waiting[number].find(mixed, bits)) {
      waiting[number].replace(mixed, each.bits.bits());
    } else {
      waiting[number].insert(mixed, each.bits.bits(), phaseOf(number), buckets);
      ++waits;
    }
  }
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

void HashTable::listLockedShard(int number, std::vector<TableRow> &rows) const {
  rows.clear();
  rows.reserve(size_t(shards[number].rowCount.load(std::memory_order_relaxed)));
  shards[number].index.forEach([&](uint64_t key, uint32_t row) {
    const uint64_t mixed = uint64_t(number) << Bucket::keyBits | key;
    rows.push_back({int64_t(pdlabi::unmixKey(mixed)), rowAt(number, row)});
  });
}

void HashTable::listShard(int number, std::vector<TableRow> &rows) const {
  const MutexLock lock(mutexOf(number));
  listLockedShard(number, rows);
}

void HashTable::collectShard(int number, RowList &rows) const {
  rows.images.clear();
  listShard(number, rows);
  sortByKey(rows);
}

void HashTable::keepChanged(std::vector<TableRow> &rows) const {
  // Headers are rarely in a cache, so prefetch.
  constexpr size_t ahead = 16;
  size_t changed = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + ahead < rows.size())
      __builtin_prefetch(&layout().headerOf(rows[i + ahead].row));
    if (layout().headerOf(rows[i].row).isDirty())
      rows[changed++] = rows[i];
  }
  rows.resize(changed);
}

void HashTable::collectChanged(int number, RowList &rows) const {
  rows.images.clear();
  listShard(number, rows);
  keepChanged(rows);
  sortByKey(rows);
}

//===----------------------------------------------------------------------===//
// Spilled rows
//===----------------------------------------------------------------------===//

void *HashTable::takeIn(int number, uint64_t mixed, const void *bytes,
                        uint32_t noted, bool wasSaved) {
  uint32_t place = 0;
  // `makeRow` fails if no row number is left. That cannot happen here: a table
  // that spills rows has far fewer rows in memory than there are row numbers.
  if (!makeRow(number, shards[number], mixed, place).ok())
    throw std::bad_alloc();
  void *row = rowAt(number, place);
  std::memcpy(row, bytes, rowBytes());
  layout().headerOf(row).restore(noted, time(), wasSaved);
  return row;
}

void *HashTable::findLocked(int number, uint64_t mixed) const {
  uint32_t place = 0;
  return shards[number].index.find(mixed, place) ? rowAt(number, place)
                                                 : nullptr;
}

void HashTable::release(int number, std::span<const TableRow> rows) {
  if (rows.empty())
    return;
  Shard &shard = shards[number];
  RowPool &pool = rowsOfShard(number);
  for (const TableRow &row : rows) {
    uint32_t place = 0;
    shard.index.erase(pdlabi::mixKey(uint64_t(row.key)), place);
    pool.erase(place);
  }
  shard.rowCount.fetch_sub(int64_t(rows.size()), std::memory_order_relaxed);
  hasErased.store(true, std::memory_order_relaxed);
  noteDeparture(number);
}

void HashTable::giveBack(int first, int end) {
  for (int number = first; number < end; ++number) {
    const MutexLock lock(mutexOf(number));
    if (shards[number].index.size() == 0)
      shards[number].index.giveBack(buckets);
    // Memory of all shards that share a lock with this one.
    rowsOfShard(number).giveBack(memory);
  }
}

void HashTable::trackErasedKey(int number, int64_t key) {
  if (!tracksErased.load(std::memory_order_relaxed))
    return;
  std::vector<int64_t> &tracked = groups[number / shardsOfLock].erasedKeys;
  makeRoom(tracked, 1);
  tracked.push_back(key);
}

void HashTable::trackErased(bool isTracked) {
  for (Group &group : groups) {
    const MutexLock lock(group.mutex);
    group.erasedKeys = {};
  }
  tracksErased.store(isTracked, std::memory_order_relaxed);
}

std::vector<int64_t> HashTable::takeErased() {
  std::vector<int64_t> keys;
  for (const Group &group : groups) {
    const MutexLock lock(group.mutex);
    keys.insert(keys.end(), group.erasedKeys.begin(), group.erasedKeys.end());
  }
  for (Group &group : groups) {
    const MutexLock lock(group.mutex);
    group.erasedKeys = {};
  }
  std::ranges::sort(keys, [](int64_t a, int64_t b) {
    return std::pair(shardOf(a), a) < std::pair(shardOf(b), b);
  });
  const auto twice = std::ranges::unique(keys);
  keys.erase(twice.begin(), twice.end());
  return keys;
}

size_t HashTable::memoryBytes() const {
  size_t sum =
      memory.memoryBytes() + buckets.memoryBytes() + shardCount * sizeof(Shard);
  for (const Group &group : groups) {
    const MutexLock lock(group.mutex);
    sum += sizeof(Group) + group.rows.memoryBytes() +
           group.erasedKeys.capacity() * sizeof(int64_t);
  }
  for (int number = 0; number < shardCount; ++number) {
    const Shard &shard = shards[number];
    const MutexLock lock(groups[number / shardsOfLock].mutex);
    sum += shard.index.memoryBytes();
    if (waiting)
      sum += sizeof(BucketIndex) + waiting[number].memoryBytes();
  }
  return sum;
}

std::unique_ptr<EmbeddingTable> pdlrt::createHashTable(TableOptions options,
                                                       int64_t keysAtOnce) {
  // An index in a batch must fit into int32_t.
  static_assert(maxKeysAtOnce <= std::numeric_limits<int32_t>::max());
  return std::make_unique<HashTable>(
      std::move(options), std::clamp<int64_t>(keysAtOnce, 1, maxKeysAtOnce));
}
