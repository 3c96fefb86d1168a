//===- TableSnapshot.cpp - Snapshot of a table ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/TableSnapshot.h"

#include "pdlabi/hash.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

using namespace pdlrt;

namespace {

/// Marks that replace the copy of a row. `newKey`: the key was inserted after
/// the snapshot. `unchangedKey`: the row was unchanged since the last save, so
/// this save does not need it.
constexpr std::byte newKey{}, unchangedKey{};

/// Returns true if `image` is a mark and not a copy of a row.
bool isMark(const std::byte *image) {
  return image == &newKey || image == &unchangedKey;
}

/// Returns the number of bytes that glibc's heap uses for an allocation: one
/// word more, rounded up to a multiple of 16 bytes, and at least 32.
constexpr size_t heapBytes(size_t bytes) {
  return bytes == 0 ? 0 : std::max<size_t>(32, (bytes + 8 + 15) / 16 * 16);
}

/// The records of some keys of a shard. Not thread-safe.
class KeyMap {
public:
  /// Returns the record of a key: a copy of its row, or a mark. Returns null if
  /// there is no record.
  const std::byte *find(int64_t key) const {
    if (places.empty())
      return nullptr;
    return places[placeOf(key)].image;
  }
  /// Adds a record of a key that has none. The map must not be full.
  void add(int64_t key, const std::byte *image) {
    places[placeOf(key)] = {key, image};
    ++count;
  }
  /// Returns the number of bytes of the map: `bytes` at present, `bytesGrown`
  /// after growth.
  size_t bytes() const { return bytesOf(places.size()); }
  size_t bytesGrown() const { return bytesOf(placesGrown()); }
  bool isFull() const { return 3 * (count + 1) > 2 * places.size(); }
  /// Doubles the capacity. While it copies, memory for both sizes is needed. On
  /// std::bad_alloc, nothing has changed.
  void grow() {
    std::vector<Place> old(placesGrown());
    old.swap(places);
    for (const Place &place : old)
      if (place.image)
        places[placeOf(place.key)] = place;
  }
  template <typename Visit> void forEach(Visit visit) const {
    for (const Place &place : places)
      if (place.image)
        visit(place.key, place.image);
  }
  void clear() {
    // Assigning {} would keep the memory.
    places = std::vector<Place>();
    count = 0;
  }

private:
  struct Place {
    int64_t key;
    const std::byte *image;
  };
  static size_t bytesOf(size_t number) {
    return heapBytes(number * sizeof(Place));
  }
  size_t placesGrown() const { return std::max<size_t>(4, 2 * places.size()); }
  /// Returns the entry of a key or, if there is none, the free entry for it.
  /// Uses the low bits of the mixed key, because the keys of a shard have the
  /// same top bits.
  size_t placeOf(int64_t key) const {
    const size_t mask = places.size() - 1;
    size_t at = pdlabi::mixKey(uint64_t(key)) & mask;
    while (places[at].image && places[at].key != key)
      at = (at + 1) & mask;
    return at;
  }

  std::vector<Place> places;
  size_t count = 0;
};

/// Memory for copies of a shard's rows. All of it is freed at once, so that
/// other shards, and tables with other row sizes, can use it. Not thread-safe.
class Images {
public:
  /// Returns the bytes in use, and additional bytes after growing.
  size_t bytes() const { return held; }
  size_t bytesToGrow(size_t rowBytes) const {
    return heapBytes(rowsToGrow(rowBytes) * rowBytes) +
           heapBytes(chunksToGrow() * sizeof(Chunk)) -
           heapBytes(chunks.capacity() * sizeof(Chunk));
  }
  bool isFull() const { return unmade == 0; }
  /// Allocates memory for more rows. On std::bad_alloc, nothing has changed.
  void grow(size_t rowBytes) {
    const size_t rows = rowsToGrow(rowBytes), more = bytesToGrow(rowBytes);
    Chunk chunk = std::make_unique_for_overwrite<std::byte[]>(rows * rowBytes);
    chunks.reserve(chunksToGrow());
    chunks.push_back(std::move(chunk));
    unmade = rows;
    count += rows;
    held += more;
  }
  /// Returns memory for a row. Precondition: not full.
  std::byte *take(size_t rowBytes) {
    return chunks.back().get() + --unmade * rowBytes;
  }
  void clear() { *this = Images(); }

private:
  using Chunk = std::unique_ptr<std::byte[]>;
  /// Returns the number of rows to add: a quarter of the current number, within
  /// limits, so that most of the memory is used.
  size_t rowsToGrow(size_t rowBytes) const {
    constexpr size_t maxBytes = size_t(1) << 16;
    return std::clamp<size_t>(count / 4, 1,
                              std::max<size_t>(1, maxBytes / rowBytes));
  }

  /// Returns the size of the list of chunks.
  size_t chunksToGrow() const {
    return chunks.size() < chunks.capacity()
               ? chunks.capacity()
               : std::max<size_t>(4, 2 * chunks.size());
  }

  std::vector<Chunk> chunks;
  /// `count`: number of rows of all chunks. `unmade`: number of unused rows in
  /// the last chunk. `held`: number of bytes of memory.
  size_t count = 0, unmade = 0, held = 0;
};

} // namespace

struct TableSnapshot::Shard {
  mutable Mutex mutex;
  /// True if the whole shard has been read. Written with the mutex locked.
  std::atomic<bool> isPassed{true};
  KeyMap known PDLRT_GUARDED_BY(mutex);
  Images images PDLRT_GUARDED_BY(mutex);
  /// Rows that were brought into memory. Readers may have copies of them.
  std::vector<TableRow> broughtIn PDLRT_GUARDED_BY(mutex);
  /// True if `broughtIn` may include keys that the table no longer has.
  bool hasErased PDLRT_GUARDED_BY(mutex) = false;
  /// Number of rows at the time of the snapshot; constant after `begin`.
  int64_t size = 0;
};

/// Memory limit of one or several snapshots, in bytes. Thread-safe.
class TableSnapshot::Room {
public:
  explicit Room(size_t maxBytes) : most(maxBytes) {}

  /// Reserves memory. Returns false if `isLimited` is true and `bytes` more
  /// bytes would exceed the limit.
  bool take(size_t bytes, bool isLimited) {
    size_t now = used.load(std::memory_order_relaxed);
    do {
      if (isLimited && now + bytes > most.load(std::memory_order_relaxed))
        return false;
    } while (!used.compare_exchange_weak(now, now + bytes,
                                         std::memory_order_relaxed));
    size_t before = maxUsed.load(std::memory_order_relaxed);
    while (before < now + bytes &&
           !maxUsed.compare_exchange_weak(before, now + bytes,
                                          std::memory_order_relaxed)) {
    }
    return true;
  }
  void give(size_t bytes) { used.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Raises the limit. Must be called before other threads use this object.
  void raise(size_t maxBytes) { most = std::max(most.load(), maxBytes); }
  /// Returns true if reservations without limit have exceeded the limit.
  bool isOverfull() const {
    return used.load(std::memory_order_relaxed) >
           most.load(std::memory_order_relaxed);
  }
  size_t maxBytes() const { return most; }
  size_t usedBytes() const { return used; }
  size_t maxUsedBytes() const { return maxUsed; }

  /// Changes when memory may have been returned.
  uint64_t turn() const { return turns.load(std::memory_order_acquire); }
  void next() {
    {
      const MutexLock lock(mutex);
      turns.fetch_add(1, std::memory_order_release);
    }
    changed.notify_all();
  }
  void waitAfter(uint64_t turn) {
    MutexLock lock(mutex);
    changed.wait(lock,
                 [&] { return turns.load(std::memory_order_relaxed) != turn; });
  }

private:
  std::atomic<size_t> most, used{0}, maxUsed{0};
  Mutex mutex;
  ConditionVariable changed;
  std::atomic<uint64_t> turns{0};
};

TableSnapshot::TableSnapshot(const EmbeddingTable &table)
    : table(table), rowBytes(std::max<size_t>(1, table.rowBytes())),
      shards(std::make_unique<Shard[]>(EmbeddingTable::shardCount)) {}

TableSnapshot::~TableSnapshot() = default;

void TableSnapshot::begin(size_t maxBytes, SavedRows which) {
  saved = which;
  // At least one row, so that no thread waits while there are no copies.
  const size_t ofRow = Images().bytesToGrow(rowBytes) + KeyMap().bytesGrown();
  room = std::make_shared<Room>(std::max(maxBytes, ofRow));
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    Shard &shard = shards[s];
    const MutexLock lock(shard.mutex);
    shard.size = table.savedSize(s);
    shard.hasErased = false;
    shard.isPassed.store(shard.size == 0, std::memory_order_release);
  }
  // Excluded rows are treated like rows inserted after the snapshot.
  for (const int64_t key : table.withheld())
    noteNew(key);
}

void TableSnapshot::shareRoomOf(const TableSnapshot &other) {
  other.room->raise(room->maxBytes());
  room = other.room;
}

void TableSnapshot::end() {
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    pass(s, {}, /*isSaved=*/false);
}

//===----------------------------------------------------------------------===//
// Called by threads that change the table
//===----------------------------------------------------------------------===//

/// Makes room for one more record of a shard. Returns false if the memory limit
/// does not allow it. Throws std::bad_alloc.
bool TableSnapshot::growKnown(Shard &shard, bool isLimited)
    PDLRT_REQUIRES(shard.mutex) {
  if (!shard.known.isFull())
    return true;
  const size_t before = shard.known.bytes(), after = shard.known.bytesGrown();
  if (!room->take(after, isLimited))
    return false;
  try {
    shard.known.grow();
  } catch (...) {
    room->give(after);
    throw;
  }
  room->give(before);
  return true;
}

/// Makes room for one more copy of a row. Conditions and result are those of
/// `growKnown`.
bool TableSnapshot::growImages(Shard &shard, bool isLimited)
    PDLRT_REQUIRES(shard.mutex) {
  if (!shard.images.isFull())
    return true;
  const size_t more = shard.images.bytesToGrow(rowBytes);
  if (!room->take(more, isLimited))
    return false;
  try {
    shard.images.grow(rowBytes);
  } catch (...) {
    room->give(more);
    throw;
  }
  return true;
}

/// Returns true if this save does not need the row, because the row has not
/// changed since the last save. The row must not have been written since the
/// snapshot.
bool TableSnapshot::isUnchanged(const void *row) const {
  return saved == SavedRows::Changed &&
         !table.layout().headerOf(const_cast<void *>(row)).isDirty();
}

/// Copies a row if the save needs it. Returns true if the row may be written
/// now. Returns false if the memory limit does not allow a copy. Throws
/// std::bad_alloc.
bool TableSnapshot::preserveRow(Shard &shard, int64_t key, const void *row,
                                bool isLimited) PDLRT_REQUIRES(shard.mutex) {
  if (shard.isPassed.load(std::memory_order_relaxed))
    return true;
  // Threads that insert keys cannot wait; they wait later, before they write.
  if (isLimited && room->isOverfull())
    return false;
  if (shard.known.find(key))
    return true;
  if (!growKnown(shard, isLimited))
    return false;
  if (isUnchanged(row)) {
    shard.known.add(key, &unchangedKey);
    return true;
  }
  if (!growImages(shard, isLimited))
    return false;
  std::byte *image = shard.images.take(rowBytes);
  std::memcpy(image, row, table.rowBytes());
  shard.known.add(key, image);
  return true;
}

void TableSnapshot::preserve(int64_t count, const int64_t *keys,
                             void *const *rows) noexcept {
  const TraceSpan span("preserve", {count});
  for (int64_t i = 0; i < count; ++i) {
    Shard &shard = shards[EmbeddingTable::shardOf(keys[i])];
    while (!shard.isPassed.load(std::memory_order_acquire)) {
      const uint64_t turn = room->turn();
      bool mayWrite = false;
      try {
        const MutexLock lock(shard.mutex);
        mayWrite = preserveRow(shard, keys[i], rows[i], /*isLimited=*/true);
      } catch (const std::bad_alloc &) {
        // Waits below, like for the limit: the writer frees memory with each
        // shard that it finishes.
        mayWrite = false;
      }
      if (mayWrite)
        break;
      const TraceSpan waiting("wait for the save");
      room->waitAfter(turn);
    }
  }
}

void TableSnapshot::noteNew(int64_t key) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  if (shard.isPassed.load(std::memory_order_acquire))
    return;
  const MutexLock lock(shard.mutex);
  if (shard.isPassed.load(std::memory_order_relaxed) || shard.known.find(key))
    return;
  growKnown(shard, /*isLimited=*/false);
  shard.known.add(key, &newKey);
}

void TableSnapshot::noteErased(int64_t key, const void *row) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  const MutexLock lock(shard.mutex);
  preserveRow(shard, key, row, /*isLimited=*/false);
  shard.hasErased = true;
}

void TableSnapshot::noteRewritten(int64_t key, const void *row) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  const MutexLock lock(shard.mutex);
  preserveRow(shard, key, row, /*isLimited=*/false);
}

void TableSnapshot::noteBroughtIn(int64_t key, void *row) noexcept {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  if (!notesSaved() || shard.isPassed.load(std::memory_order_acquire))
    return;
  const MutexLock lock(shard.mutex);
  if (shard.isPassed.load(std::memory_order_relaxed))
    return;
  std::vector<TableRow> &rows = shard.broughtIn;
  const size_t before = rows.capacity();
  try {
    rows.push_back({key, row});
  } catch (const std::bad_alloc &) {
    return;
  }
  room->take(heapBytes(rows.capacity() * sizeof(TableRow)) -
                 heapBytes(before * sizeof(TableRow)),
             /*isLimited=*/false);
}

bool TableSnapshot::isPassed(int shard) const {
  return shards[shard].isPassed.load(std::memory_order_acquire);
}

//===----------------------------------------------------------------------===//
// Called by readers
//===----------------------------------------------------------------------===//

int64_t TableSnapshot::shardSize(int shard) const { return shards[shard].size; }

void TableSnapshot::collectShard(int number, RowList &rows) const {
  const Shard &shard = shards[number];
  rows.clear();
  rows.images.clear();
  if (shard.size == 0)
    return;
  // A thread that inserts a key adds its record before other threads can find
  // the key. A row that was changed at the time of the snapshot counts as
  // changed until `pass` is called.
  if (saved == SavedRows::Changed)
    table.collectChanged(number, rows);
  else
    table.collectShard(number, rows);
  const MutexLock lock(shard.mutex);
  std::erase_if(rows, [&](const TableRow &row) PDLRT_REQUIRES(shard.mutex) {
    return isMark(shard.known.find(row.key));
  });
  if (!shard.hasErased)
    return;
  const auto byKey = [](const TableRow &a, const TableRow &b) {
    return a.key < b.key;
  };
  const size_t found = rows.size();
  shard.known.forEach([&](int64_t key, const std::byte *image) {
    const TableRow row = {key, const_cast<std::byte *>(image)};
    if (!isMark(image) &&
        !std::binary_search(rows.begin(), rows.begin() + found, row, byKey))
      rows.push_back(row);
  });
  std::ranges::sort(rows, byKey);
}

void TableSnapshot::read(std::span<TableRow> rows, const Visit &visit) const {
  // While these rows are copied, threads that write rows of the shard wait.
  constexpr size_t atOnce = 512;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const int number = EmbeddingTable::shardOf(rows[begin].key);
    for (end = begin + 1; end < rows.size() && end < begin + atOnce &&
                          EmbeddingTable::shardOf(rows[end].key) == number;)
      ++end;
    const Shard &shard = shards[number];
    const MutexLock lock(shard.mutex);
    for (TableRow &row : rows.subspan(begin, end - begin))
      if (const std::byte *image = shard.known.find(row.key))
        row.row = const_cast<std::byte *>(image);
    visit(rows.subspan(begin, end - begin));
  }
}

void TableSnapshot::pass(int number, std::span<const TableRow> rows,
                         bool isSaved) {
  Shard &shard = shards[number];
  {
    const MutexLock lock(shard.mutex);
    // A thread that writes a row without record waits for this lock.
    if (isSaved && notesSaved() && !shard.isPassed) {
      for (const std::span<const TableRow> saved :
           {rows, std::span<const TableRow>(shard.broughtIn)})
        for (const TableRow &row : saved)
          if (!shard.known.find(row.key))
            table.layout().headerOf(row.row).noteSaved();
      table.noteShardSaved(number);
    }
    shard.isPassed.store(true, std::memory_order_release);
    room->give(shard.known.bytes() + shard.images.bytes() +
               heapBytes(shard.broughtIn.capacity() * sizeof(TableRow)));
    shard.known.clear();
    shard.images.clear();
    // Assigning {} would keep the memory.
    shard.broughtIn = std::vector<TableRow>();
  }
  room->next();
}

size_t TableSnapshot::copiedBytes() const { return room->usedBytes(); }

size_t TableSnapshot::maxCopiedBytes() const { return room->maxUsedBytes(); }
