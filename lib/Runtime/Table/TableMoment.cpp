//===- TableMoment.cpp - A table's rows as they were at a moment ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/TableMoment.h"

#include "pdlabi/hash.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>

using namespace pdlrt;

namespace {

/// In the place of an image: the key is new, or its row was as it had been
/// saved and is not asked for.
constexpr std::byte newKey{}, unchangedKey{};

/// Whether that is no image.
bool isMark(const std::byte *image) {
  return image == &newKey || image == &unchangedKey;
}

/// What the heap takes for a piece of memory, as glibc's does: a word more, in
/// units of 16 bytes, of which the least piece has two.
constexpr size_t heapBytes(size_t bytes) {
  return bytes == 0 ? 0 : std::max<size_t>(32, (bytes + 8 + 15) / 16 * 16);
}

/// What is known of some keys of a shard. Not thread-safe.
class KeyMap {
public:
  /// The image of the key, a mark, or null: nothing is known.
  const std::byte *find(int64_t key) const {
    if (places.empty())
      return nullptr;
    return places[placeOf(key)].image;
  }
  /// Of a key of which nothing is known, where there is room.
  void add(int64_t key, const std::byte *image) {
    places[placeOf(key)] = {key, image};
    ++count;
  }
  /// Bytes that the map holds, and would hold once it has grown.
  size_t bytes() const { return bytesOf(places.size()); }
  size_t bytesGrown() const { return bytesOf(placesGrown()); }
  bool isFull() const { return 3 * (count + 1) > 2 * places.size(); }
  /// Holds both for a while. Throws std::bad_alloc, and nothing has changed.
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
    // Braces would keep the memory.
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
  /// Where the key is, or the free place where it goes. Their number is a power
  /// of two; the top bits of a mixed key are those of its shard.
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

/// Memory for rows of a shard, which goes as a whole: then other shards, and
/// tables with rows of other sizes, can have it. Not thread-safe.
class Images {
public:
  /// Bytes that they hold, and would hold more once they have grown.
  size_t bytes() const { return held; }
  size_t bytesToGrow(size_t rowBytes) const {
    return heapBytes(rowsToGrow(rowBytes) * rowBytes) +
           heapBytes(chunksToGrow() * sizeof(Chunk)) -
           heapBytes(chunks.capacity() * sizeof(Chunk));
  }
  bool isFull() const { return unmade == 0; }
  /// Throws std::bad_alloc, and nothing has changed.
  void grow(size_t rowBytes) {
    const size_t rows = rowsToGrow(rowBytes), more = bytesToGrow(rowBytes);
    Chunk chunk = std::make_unique_for_overwrite<std::byte[]>(rows * rowBytes);
    chunks.reserve(chunksToGrow());
    chunks.push_back(std::move(chunk));
    unmade = rows;
    count += rows;
    held += more;
  }
  /// Unless they are full.
  std::byte *take(size_t rowBytes) {
    return chunks.back().get() + --unmade * rowBytes;
  }
  void clear() { *this = Images(); }

private:
  using Chunk = std::unique_ptr<std::byte[]>;
  /// A part of what there is: most of what is held is used.
  size_t rowsToGrow(size_t rowBytes) const {
    constexpr size_t mostBytes = size_t(1) << 16;
    return std::clamp<size_t>(count / 4, 1,
                              std::max<size_t>(1, mostBytes / rowBytes));
  }

  /// Of the list of chunks.
  size_t chunksToGrow() const {
    return chunks.size() < chunks.capacity()
               ? chunks.capacity()
               : std::max<size_t>(4, 2 * chunks.size());
  }

  std::vector<Chunk> chunks;
  /// Rows of all chunks, and how many of the last one nobody has had yet.
  size_t count = 0, unmade = 0, held = 0;
};

} // namespace

struct TableMoment::Shard {
  mutable std::mutex mutex;
  /// All of it has been read. Written with the mutex held.
  std::atomic<bool> isPassed{true};
  KeyMap known;
  Images images;
  /// Rows that came into memory, which those who read may have copies of.
  std::vector<TableRow> broughtIn;
  /// Keys that the table may have no more are among them.
  bool hasErased = false;
  /// Rows at the moment.
  int64_t size = 0;
};

/// What one or several moments may hold together, in bytes. Thread-safe.
class TableMoment::Room {
public:
  explicit Room(size_t mostBytes) : most(mostBytes) {}

  /// False where there is no room for so many more.
  bool take(size_t bytes, bool isLimited) {
    size_t now = used.load(std::memory_order_relaxed);
    do {
      if (isLimited && now + bytes > most.load(std::memory_order_relaxed))
        return false;
    } while (!used.compare_exchange_weak(now, now + bytes,
                                         std::memory_order_relaxed));
    size_t before = mostUsed.load(std::memory_order_relaxed);
    while (before < now + bytes &&
           !mostUsed.compare_exchange_weak(before, now + bytes,
                                           std::memory_order_relaxed)) {
    }
    return true;
  }
  void give(size_t bytes) { used.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Nobody uses it yet.
  void raise(size_t mostBytes) { most = std::max(most.load(), mostBytes); }
  /// What is not limited has taken more than there was.
  bool isOverfull() const {
    return used.load(std::memory_order_relaxed) >
           most.load(std::memory_order_relaxed);
  }
  size_t mostBytes() const { return most; }
  size_t usedBytes() const { return used; }
  size_t mostUsedBytes() const { return mostUsed; }

  /// Changes when some may have been given.
  uint64_t turn() const { return turns.load(std::memory_order_acquire); }
  void next() {
    {
      const std::lock_guard lock(mutex);
      turns.fetch_add(1, std::memory_order_release);
    }
    changed.notify_all();
  }
  void waitBehind(uint64_t turn) {
    std::unique_lock lock(mutex);
    changed.wait(lock,
                 [&] { return turns.load(std::memory_order_relaxed) != turn; });
  }

private:
  std::atomic<size_t> most, used{0}, mostUsed{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<uint64_t> turns{0};
};

TableMoment::TableMoment(const EmbeddingTable &table)
    : table(table), rowBytes(std::max<size_t>(1, table.rowBytes())),
      shards(std::make_unique<Shard[]>(EmbeddingTable::shardCount)) {}

TableMoment::~TableMoment() = default;

void TableMoment::begin(size_t mostBytes, SavedRows which) {
  saved = which;
  // A row at least, so that nobody waits where nothing is aside.
  const size_t ofRow = Images().bytesToGrow(rowBytes) + KeyMap().bytesGrown();
  room = std::make_shared<Room>(std::max(mostBytes, ofRow));
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    Shard &shard = shards[s];
    const std::lock_guard lock(shard.mutex);
    shard.size = table.savedSize(s);
    shard.hasErased = false;
    shard.isPassed.store(shard.size == 0, std::memory_order_release);
  }
  // As if they came after the moment.
  for (const int64_t key : table.withheld())
    noteNew(key);
}

void TableMoment::shareRoomOf(const TableMoment &other) {
  other.room->raise(room->mostBytes());
  room = other.room;
}

void TableMoment::end() {
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    pass(s, {}, /*isSaved=*/false);
}

//===----------------------------------------------------------------------===//
// For those who change the table
//===----------------------------------------------------------------------===//

/// Makes room to know one more key of a shard, which is locked; false where
/// there is none. Throws std::bad_alloc.
bool TableMoment::growKnown(Shard &shard, bool isLimited) {
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

/// The same for one more row.
bool TableMoment::growImages(Shard &shard, bool isLimited) {
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

/// Whether a row is not asked for. Of one that nobody has written since the
/// moment began.
bool TableMoment::isUnchanged(const void *row) const {
  return saved == SavedRows::Changed &&
         !table.layout().headerOf(const_cast<void *>(row)).isDirty();
}

/// Whether the row may be written; with the shard locked. Throws
/// std::bad_alloc.
bool TableMoment::preserveRow(Shard &shard, int64_t key, const void *row,
                              bool isLimited) {
  if (shard.isPassed.load(std::memory_order_relaxed))
    return true;
  // Those who insert keys cannot wait: they do before they write.
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

void TableMoment::preserve(int64_t count, const int64_t *keys,
                           void *const *rows) noexcept {
  const TraceSpan span("preserve", {count});
  for (int64_t i = 0; i < count; ++i) {
    Shard &shard = shards[EmbeddingTable::shardOf(keys[i])];
    while (!shard.isPassed.load(std::memory_order_acquire)) {
      const uint64_t turn = room->turn();
      bool mayWrite = false;
      try {
        const std::lock_guard lock(shard.mutex);
        mayWrite = preserveRow(shard, keys[i], rows[i], /*isLimited=*/true);
      } catch (const std::bad_alloc &) {
        // What others pass gives room.
        mayWrite = false;
      }
      if (mayWrite)
        break;
      const TraceSpan waiting("wait for the save");
      room->waitBehind(turn);
    }
  }
}

void TableMoment::noteNew(int64_t key) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  if (shard.isPassed.load(std::memory_order_acquire))
    return;
  const std::lock_guard lock(shard.mutex);
  if (shard.isPassed.load(std::memory_order_relaxed) || shard.known.find(key))
    return;
  growKnown(shard, /*isLimited=*/false);
  shard.known.add(key, &newKey);
}

void TableMoment::noteErased(int64_t key, const void *row) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  const std::lock_guard lock(shard.mutex);
  preserveRow(shard, key, row, /*isLimited=*/false);
  shard.hasErased = true;
}

void TableMoment::noteRewritten(int64_t key, const void *row) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  const std::lock_guard lock(shard.mutex);
  preserveRow(shard, key, row, /*isLimited=*/false);
}

void TableMoment::noteBroughtIn(int64_t key, void *row) noexcept {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  if (!notesSaved() || shard.isPassed.load(std::memory_order_acquire))
    return;
  const std::lock_guard lock(shard.mutex);
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

bool TableMoment::isPassed(int shard) const {
  return shards[shard].isPassed.load(std::memory_order_acquire);
}

//===----------------------------------------------------------------------===//
// For readers
//===----------------------------------------------------------------------===//

int64_t TableMoment::shardSize(int shard) const { return shards[shard].size; }

void TableMoment::collectShard(int number, RowList &rows) const {
  const Shard &shard = shards[number];
  rows.clear();
  rows.images.clear();
  if (shard.size == 0)
    return;
  // Who inserts a key notes that it is new before it is found. A row that was
  // changed at the moment is so up to `pass`.
  if (saved == SavedRows::Changed)
    table.collectChanged(number, rows);
  else
    table.collectShard(number, rows);
  const std::lock_guard lock(shard.mutex);
  std::erase_if(rows, [&](const TableRow &row) {
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

void TableMoment::read(std::span<TableRow> rows, const Visit &visit) const {
  // While these are copied, who writes one of the shard waits.
  constexpr size_t atOnce = 512;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const int number = EmbeddingTable::shardOf(rows[begin].key);
    for (end = begin + 1; end < rows.size() && end < begin + atOnce &&
                          EmbeddingTable::shardOf(rows[end].key) == number;)
      ++end;
    const Shard &shard = shards[number];
    const std::lock_guard lock(shard.mutex);
    for (TableRow &row : rows.subspan(begin, end - begin))
      if (const std::byte *image = shard.known.find(row.key))
        row.row = const_cast<std::byte *>(image);
    visit(rows.subspan(begin, end - begin));
  }
}

void TableMoment::pass(int number, std::span<const TableRow> rows,
                       bool isSaved) {
  Shard &shard = shards[number];
  {
    const std::lock_guard lock(shard.mutex);
    // Who writes a row that is not known waits for this lock.
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
    // Braces would keep the memory.
    shard.broughtIn = std::vector<TableRow>();
  }
  room->next();
}

size_t TableMoment::bytesAside() const { return room->usedBytes(); }

size_t TableMoment::mostBytesAside() const { return room->mostUsedBytes(); }
