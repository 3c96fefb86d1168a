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
#include <cstring>
#include <new>
#include <utility>

using namespace pdlrt;

namespace {

/// In the place of an image: the key is new.
constexpr std::byte newKey{};

/// What is known of some keys of a shard. Not thread-safe.
class KeyMap {
public:
  /// The image of the key, `&newKey`, or null: nothing is known.
  const std::byte *find(int64_t key) const {
    if (places.empty())
      return nullptr;
    return places[placeOf(key)].image;
  }
  /// Of a key of which nothing is known. Throws std::bad_alloc, and nothing has
  /// changed.
  void add(int64_t key, const std::byte *image) {
    makeRoom();
    places[placeOf(key)] = {key, image};
    ++count;
  }
  /// `add` does not throw after it.
  void makeRoom() {
    if (3 * (count + 1) <= 2 * places.size())
      return;
    std::vector<Place> old(std::max<size_t>(16, 2 * places.size()));
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
    places = {};
    count = 0;
  }

private:
  struct Place {
    int64_t key;
    const std::byte *image;
  };
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

} // namespace

struct TableMoment::Shard {
  mutable std::mutex mutex;
  /// All of it has been read. Written with the mutex held.
  std::atomic<bool> isPassed{true};
  /// Rows up to this key have been read.
  bool hasRead = false;
  int64_t lastRead = 0;
  KeyMap known;
  /// Keys that the table may have no more are among them.
  bool hasErased = false;
  /// Rows at the moment.
  int64_t size = 0;

  bool isRead(int64_t key) const {
    return isPassed.load(std::memory_order_relaxed) ||
           (hasRead && key <= lastRead);
  }
};

/// Memory for rows, of a limited number. Thread-safe.
class TableMoment::Images {
public:
  explicit Images(size_t rowBytes)
      : imageBytes(std::max(sizeof(std::byte *),
                            (rowBytes + alignof(void *) - 1) / alignof(void *) *
                                alignof(void *))),
        inChunk(std::max<size_t>(1, chunkBytes / imageBytes)) {}

  void begin(size_t mostBytes) {
    const std::lock_guard lock(mutex);
    most = std::max<size_t>(1, mostBytes / imageBytes);
    mostUsed = 0;
  }
  /// Null where there is no room; throws std::bad_alloc.
  std::byte *take(bool isLimited) {
    const std::lock_guard lock(mutex);
    if (isLimited && used >= most)
      return nullptr;
    if (!unused && unmade == 0) {
      chunks.push_back(
          std::make_unique_for_overwrite<std::byte[]>(inChunk * imageBytes));
      unmade = inChunk;
    }
    mostUsed = std::max(mostUsed, ++used);
    if (unused)
      return std::exchange(unused, nextOf(unused));
    return chunks.back().get() + --unmade * imageBytes;
  }
  void give(std::byte *image) {
    const std::lock_guard lock(mutex);
    std::memcpy(image, &unused, sizeof(unused));
    unused = image;
    --used;
  }
  /// None is used.
  void end() {
    const std::lock_guard lock(mutex);
    chunks.clear();
    chunks.shrink_to_fit();
    unused = nullptr;
    unmade = 0;
  }
  size_t bytes() const {
    const std::lock_guard lock(mutex);
    return used * imageBytes;
  }
  size_t mostBytes() const {
    const std::lock_guard lock(mutex);
    return mostUsed * imageBytes;
  }

private:
  static constexpr size_t chunkBytes = size_t(1) << 18;
  static std::byte *nextOf(const std::byte *image) {
    std::byte *next = nullptr;
    std::memcpy(&next, image, sizeof(next));
    return next;
  }

  const size_t imageBytes, inChunk;
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<std::byte[]>> chunks;
  /// Those that were given back, each with the address of the next one.
  std::byte *unused = nullptr;
  /// How many of the last chunk nobody has had yet.
  size_t unmade = 0;
  size_t used = 0, most = 0, mostUsed = 0;
};

TableMoment::TableMoment(const EmbeddingTable &table)
    : table(table),
      shards(std::make_unique<Shard[]>(EmbeddingTable::shardCount)),
      images(std::make_unique<Images>(table.rowBytes())) {}

TableMoment::~TableMoment() = default;

void TableMoment::begin(size_t mostBytes) {
  images->begin(mostBytes);
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    Shard &shard = shards[s];
    const std::lock_guard lock(shard.mutex);
    shard.size = table.shardSize(s);
    shard.hasRead = shard.hasErased = false;
    shard.isPassed.store(shard.size == 0, std::memory_order_release);
  }
}

void TableMoment::end() {
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    pass(s);
  images->end();
}

//===----------------------------------------------------------------------===//
// For those who change the table
//===----------------------------------------------------------------------===//

/// Whether the row may be written; with the shard locked. Throws
/// std::bad_alloc.
bool TableMoment::preserveRow(Shard &shard, int64_t key, const void *row,
                              bool isLimited) {
  if (shard.isRead(key) || shard.known.find(key))
    return true;
  shard.known.makeRoom();
  std::byte *image = images->take(isLimited);
  if (!image)
    return false;
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
      const uint64_t before = passes.load(std::memory_order_acquire);
      try {
        const std::lock_guard lock(shard.mutex);
        if (preserveRow(shard, keys[i], rows[i], /*isLimited=*/true))
          break;
      } catch (const std::bad_alloc &) {
        // What others pass gives room.
      }
      const TraceSpan waiting("wait for the save");
      std::unique_lock lock(roomMutex);
      room.wait(lock, [&] {
        return passes.load(std::memory_order_relaxed) != before;
      });
    }
  }
}

void TableMoment::noteNew(int64_t key) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  if (shard.isPassed.load(std::memory_order_acquire))
    return;
  const std::lock_guard lock(shard.mutex);
  if (!shard.isRead(key) && !shard.known.find(key))
    shard.known.add(key, &newKey);
}

void TableMoment::noteErased(int64_t key, const void *row) {
  Shard &shard = shards[EmbeddingTable::shardOf(key)];
  const std::lock_guard lock(shard.mutex);
  preserveRow(shard, key, row, /*isLimited=*/false);
  shard.hasErased = true;
}

//===----------------------------------------------------------------------===//
// For readers
//===----------------------------------------------------------------------===//

int64_t TableMoment::shardSize(int shard) const { return shards[shard].size; }

void TableMoment::collectShard(int number, std::vector<TableRow> &rows) const {
  const Shard &shard = shards[number];
  rows.clear();
  if (shard.size == 0)
    return;
  // Who inserts a key notes that it is new before it is found.
  table.collectShard(number, rows);
  const std::lock_guard lock(shard.mutex);
  std::erase_if(rows, [&](const TableRow &row) {
    return shard.known.find(row.key) == &newKey;
  });
  if (!shard.hasErased)
    return;
  const auto byKey = [](const TableRow &a, const TableRow &b) {
    return a.key < b.key;
  };
  const size_t found = rows.size();
  shard.known.forEach([&](int64_t key, const std::byte *image) {
    const TableRow row = {key, const_cast<std::byte *>(image)};
    if (image != &newKey &&
        !std::binary_search(rows.begin(), rows.begin() + found, row, byKey))
      rows.push_back(row);
  });
  std::ranges::sort(rows, byKey);
}

void TableMoment::read(std::span<TableRow> rows, bool isLast,
                       const Visit &visit) {
  // While these are copied, who writes one of the shard waits.
  constexpr size_t atOnce = 512;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const int number = EmbeddingTable::shardOf(rows[begin].key);
    for (end = begin + 1; end < rows.size() && end < begin + atOnce &&
                          EmbeddingTable::shardOf(rows[end].key) == number;)
      ++end;
    Shard &shard = shards[number];
    const std::lock_guard lock(shard.mutex);
    for (TableRow &row : rows.subspan(begin, end - begin))
      if (const std::byte *image = shard.known.find(row.key))
        row.row = const_cast<std::byte *>(image);
    visit(rows.subspan(begin, end - begin));
    if (isLast) {
      shard.hasRead = true;
      shard.lastRead = rows[end - 1].key;
    }
  }
}

/// With the shard locked.
void TableMoment::release(Shard &shard) {
  shard.known.forEach([&](int64_t, const std::byte *image) {
    if (image != &newKey)
      images->give(const_cast<std::byte *>(image));
  });
  shard.known.clear();
}

void TableMoment::pass(int number) {
  Shard &shard = shards[number];
  {
    const std::lock_guard lock(shard.mutex);
    shard.isPassed.store(true, std::memory_order_release);
    release(shard);
  }
  {
    const std::lock_guard lock(roomMutex);
    passes.fetch_add(1, std::memory_order_release);
  }
  room.notify_all();
}

size_t TableMoment::bytesAside() const { return images->bytes(); }

size_t TableMoment::mostBytesAside() const { return images->mostBytes(); }
