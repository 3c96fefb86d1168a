//===- RowStore.cpp - Rows in a folder ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/RowStore.h"

#include "Table/RocksLibrary.h"
#include "pdlabi/hash.h"
#include "pdlabi/table.h"
#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::rocks;

bool StoredRow::isDirty() const {
  return (noted & pdlabi::HeaderBits::dirty) != 0;
}

namespace {

/// RocksDB orders keys by bytes: the table, the shard, of what has changed how
/// often that had been saved, and the key as a number from 0, each with the
/// highest byte first.
class RecordKey {
public:
  RecordKey() = default;
  RecordKey(uint64_t table, int shard) { putShard(table, shard); }
  RecordKey(uint64_t table, int shard, int64_t key) {
    putShard(table, shard);
    put(uint64_t(key) ^ signBit, 8);
  }
  static RecordKey ofChange(uint64_t table, int shard, uint32_t saves,
                            int64_t key = INT64_MIN) {
    RecordKey name(table, shard);
    name.put(saves, 4);
    name.put(uint64_t(key) ^ signBit, 8);
    return name;
  }
  const char *data() const { return bytes.data(); }
  size_t size() const { return length; }
  static int64_t keyOf(const char *data, size_t size) {
    uint64_t number = 0;
    std::memcpy(&number, data + size - sizeof(number), sizeof(number));
    return int64_t(__builtin_bswap64(number) ^ signBit);
  }

private:
  static constexpr uint64_t signBit = uint64_t(1) << 63;
  void putShard(uint64_t table, int shard) {
    put(table, 8);
    put(uint64_t(shard), 2);
  }
  void put(uint64_t number, size_t count) {
    while (count-- > 0)
      bytes[length++] = char(number >> 8 * count);
  }

  std::array<char, 22> bytes;
  size_t length = 0;
};

/// In front of a row's bytes.
struct RecordHead {
  uint32_t noted, saves;
};

} // namespace

static StoredRow rowOf(const char *record, size_t bytes) {
  RecordHead head;
  std::memcpy(&head, record, sizeof(head));
  return {
      head.noted, head.saves, {record + sizeof(head), bytes - sizeof(head)}};
}

struct RowStore::Implementation {
  const Library &library;
  std::string folder;
  LockFile lock;
  Options *options = nullptr;
  TableFormat *format = nullptr;
  Cache *cache = nullptr;
  WriteOptions *unlogged = nullptr;
  ReadOptions *reads = nullptr;
  Database *database = nullptr;
  /// Rows, and keys of those that were dirty when they came.
  enum { Rows, Changed, FamilyCount };
  Family *families[FamilyCount] = {};

  explicit Implementation(const Library &library) : library(library) {}
  ~Implementation();
  Status open();
  /// Takes the text of an error; empty: there was none.
  std::string take(char *error) const;
  void check(char *error, const char *doing) const;
  /// Calls visit(iterator) for the records of a shard.
  template <typename Visit>
  void forEach(int family, uint64_t table, int shard, Visit visit) const;
};

std::string RowStore::Implementation::take(char *error) const {
  if (!error)
    return {};
  std::string text = error;
  library.freeText(error);
  return text;
}

/// There is nothing to go on with, and nobody who could wait: who found this
/// holds locks, and rows are gone as if memory had failed.
void RowStore::Implementation::check(char *error, const char *doing) const {
  if (!error)
    return;
  logWarning("rows could not be " + std::string(doing) + " " + folder +
             " (--table-spill): " + take(error) +
             "; go on from the last checkpoint, with a folder on a disk that "
             "has room");
  std::_Exit(1);
}

Status RowStore::Implementation::open() {
  // Most of what a process keeps of its rows elsewhere: what is written and
  // not yet on the disk, and blocks that were read.
  constexpr size_t writeBufferBytes = size_t(32) << 20;
  constexpr size_t cacheBytes = size_t(64) << 20;
  constexpr int writeBuffers = 3;
  constexpr int noCompression = 0, universalCompaction = 1;
  constexpr int errorsOnly = 3, hashedBlocks = 1;
  constexpr double filterBitsOfKey = 10, filterPartOfBuffer = 0.1;
  constexpr int threads = 2;
  options = library.optionsCreate();
  library.setCreateIfMissing(options, 1);
  library.setCreateMissingFamilies(options, 1);
  library.setErrorIfExists(options, 1);
  // Weights hardly become smaller; and a row is written far more often than it
  // is merged with others.
  library.setCompression(options, noCompression);
  library.setCompactionStyle(options, universalCompaction);
  library.setWriteBufferSize(options, writeBufferBytes);
  library.setMaxWriteBufferNumber(options, writeBuffers);
  library.increaseParallelism(options, threads);
  // A key that is new is told without a search, here and in files.
  library.setMemtableBloomRatio(options, filterPartOfBuffer);
  library.setMemtableWholeKeys(options, 1);
  library.setMaxOpenFiles(options, -1);
  library.setInfoLogLevel(options, errorsOnly);
  library.setKeepLogFileNumber(options, 1);
  format = library.tableFormatCreate();
  library.setFilterPolicy(format, library.filterPolicyCreate(filterBitsOfKey));
  cache = library.cacheCreate(cacheBytes);
  library.setBlockCache(format, cache);
  library.setDataBlockIndexType(format, hashedBlocks);
  library.setTableFormat(options, format);
  unlogged = library.writeOptionsCreate();
  library.disableLog(unlogged, 1);
  reads = library.readOptionsCreate();

  const char *const names[] = {"default", "changed"};
  const Options *const ofFamilies[] = {options, options};
  char *error = nullptr;
  database = library.open(options, (folder + "/rows").c_str(), FamilyCount,
                          names, ofFamilies, families, &error);
  if (error)
    return Status::invalid("rows cannot be kept in " + folder +
                           " (--table-spill): " + take(error) +
                           "; name a folder on a disk that can be written");
  return {};
}

RowStore::Implementation::~Implementation() {
  if (database) {
    library.cancelBackgroundWork(database, 1);
    for (Family *family : families)
      library.familyDestroy(family);
    library.close(database);
  }
  if (reads)
    library.readOptionsDestroy(reads);
  if (unlogged)
    library.writeOptionsDestroy(unlogged);
  if (format)
    library.tableFormatDestroy(format);
  if (cache)
    library.cacheDestroy(cache);
  if (options)
    library.optionsDestroy(options);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

static constexpr const char *prefixOfFolders = "pdl-rows-";

/// What processes have left that have ended.
static void removeLeftovers(const std::filesystem::path &folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::filesystem::path &path = entry->path();
    if (!path.filename().string().starts_with(prefixOfFolders))
      continue;
    int reason = 0;
    const LockFile lock = LockFile::take((path / "lock").string(), reason);
    if (lock && reason == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  }
}

Expected<std::shared_ptr<RowStore>> RowStore::open(const std::string &folder) {
  const Expected<const Library *> library = openLibrary();
  if (!library)
    return library.status();
  auto own = std::make_unique<Implementation>(**library);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error)
    removeLeftovers(folder);
  // One that begins at the same time may take a folder without a lock for one
  // that was left.
  for (bool isOwn = false; !error && !isOwn;) {
    std::string name =
        folder + "/" + prefixOfFolders + std::to_string(getpid()) + "-XXXXXX";
    if (!mkdtemp(name.data())) {
      error = std::error_code(errno, std::generic_category());
      break;
    }
    own->folder = name;
    int reason = 0;
    own->lock = LockFile::take(name + "/lock", reason);
    // Some file systems have no locks, and nobody removes anything there.
    isOwn = own->lock && own->lock.isOwn();
    if (!isOwn && reason != 0 && reason != EWOULDBLOCK && reason != ENOENT)
      error = std::error_code(reason, std::generic_category());
  }
  if (error)
    return Status::invalid("rows cannot be kept in " + folder +
                           " (--table-spill): " + error.message() +
                           "; name a folder that can be written");
  PDLRT_RETURN_IF_ERROR(own->open());
  return std::shared_ptr<RowStore>(new RowStore(std::move(own)));
}

RowStore::RowStore(std::unique_ptr<Implementation> implementation)
    : own(std::move(implementation)) {}

RowStore::~RowStore() = default;

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

RowStore::Batch::Batch(const RowStore &store)
    : store(store), batch(store.own->library.batchCreate()) {}

RowStore::Batch::~Batch() {
  store.own->library.batchDestroy(static_cast<WriteBatch *>(batch));
}

void RowStore::Batch::put(uint64_t table, int shard, int64_t key,
                          const StoredRow &row) {
  const Implementation &own = *store.own;
  const RecordKey name(table, shard, key);
  const RecordHead head = {row.noted, row.saves};
  record.assign(reinterpret_cast<const char *>(&head), sizeof(head));
  record.append(row.bytes);
  auto *to = static_cast<WriteBatch *>(batch);
  own.library.batchPut(to, own.families[Implementation::Rows], name.data(),
                       name.size(), record.data(), record.size());
  if (row.isDirty()) {
    const RecordKey change = RecordKey::ofChange(table, shard, row.saves, key);
    own.library.batchPut(to, own.families[Implementation::Changed],
                         change.data(), change.size(), "", 0);
  }
  ++count;
}

void RowStore::Batch::erase(uint64_t table, int shard, int64_t key) {
  const Implementation &own = *store.own;
  const RecordKey name(table, shard, key);
  own.library.batchDelete(static_cast<WriteBatch *>(batch),
                          own.families[Implementation::Rows], name.data(),
                          name.size());
  ++count;
}

void RowStore::Batch::write() {
  if (count == 0)
    return;
  const Implementation &own = *store.own;
  char *error = nullptr;
  own.library.write(own.database, own.unlogged,
                    static_cast<WriteBatch *>(batch), &error);
  own.check(error, "written to");
  own.library.batchClear(static_cast<WriteBatch *>(batch));
  count = 0;
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

void RowStore::get(
    uint64_t table, std::span<const int64_t> keys,
    const std::function<void(size_t, const StoredRow &)> &found) const {
  constexpr size_t atOnce = 128;
  std::array<RecordKey, atOnce> names;
  std::array<const char *, atOnce> pointers;
  std::array<size_t, atOnce> sizes;
  std::array<PinnedValue *, atOnce> values;
  std::array<char *, atOnce> problems;
  for (size_t begin = 0; begin < keys.size(); begin += atOnce) {
    const size_t count = std::min(atOnce, keys.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      const int64_t key = keys[begin + i];
      names[i] = RecordKey(table, pdlabi::shardOfKey(key), key);
      pointers[i] = names[i].data();
      sizes[i] = names[i].size();
      values[i] = nullptr;
      problems[i] = nullptr;
    }
    own->library.multiGet(own->database, own->reads,
                          own->families[Implementation::Rows], count,
                          pointers.data(), sizes.data(), values.data(),
                          problems.data(), /*sorted_input=*/false);
    // Who is told of a row may throw.
    std::vector<std::unique_ptr<PinnedValue, void (*)(PinnedValue *)>> owned;
    owned.reserve(count);
    for (size_t i = 0; i < count; ++i)
      owned.emplace_back(values[i], own->library.pinnedDestroy);
    for (size_t i = 0; i < count; ++i) {
      own->check(problems[i], "read from");
      if (!owned[i])
        continue;
      size_t bytes = 0;
      const char *record = own->library.pinnedValue(owned[i].get(), &bytes);
      found(begin + i, rowOf(record, bytes));
    }
  }
}

template <typename Visit>
void RowStore::Implementation::forEach(int family, uint64_t table, int shard,
                                       Visit visit) const {
  // All of it is read, once: the cache is for rows that are asked for.
  constexpr size_t readaheadBytes = size_t(256) << 10;
  const RecordKey first(table, shard), end(table, shard + 1);
  const std::unique_ptr<ReadOptions, decltype(library.readOptionsDestroy)>
      ofShard(library.readOptionsCreate(), library.readOptionsDestroy);
  library.setUpperBound(ofShard.get(), end.data(), end.size());
  library.setReadahead(ofShard.get(), readaheadBytes);
  library.setFillCache(ofShard.get(), 0);
  const std::unique_ptr<Iterator, decltype(library.iteratorDestroy)> at(
      library.iteratorCreate(database, ofShard.get(), families[family]),
      library.iteratorDestroy);
  for (library.iteratorSeek(at.get(), first.data(), first.size());
       library.iteratorValid(at.get()); library.iteratorNext(at.get()))
    visit(at.get());
  char *error = nullptr;
  library.iteratorError(at.get(), &error);
  check(error, "read from");
}

void RowStore::forEach(
    uint64_t table, int shard,
    const std::function<void(int64_t, const StoredRow &)> &visit) const {
  own->forEach(Implementation::Rows, table, shard, [&](const Iterator *at) {
    size_t nameBytes = 0, bytes = 0;
    const char *name = own->library.iteratorKey(at, &nameBytes);
    const char *record = own->library.iteratorValue(at, &bytes);
    visit(RecordKey::keyOf(name, nameBytes), rowOf(record, bytes));
  });
}

void RowStore::collectChanged(uint64_t table, int shard,
                              std::vector<int64_t> &keys) const {
  keys.clear();
  own->forEach(Implementation::Changed, table, shard, [&](const Iterator *at) {
    size_t bytes = 0;
    const char *name = own->library.iteratorKey(at, &bytes);
    keys.push_back(RecordKey::keyOf(name, bytes));
  });
  std::ranges::sort(keys);
  const auto twice = std::ranges::unique(keys);
  keys.erase(twice.begin(), twice.end());
}

void RowStore::forgetChanged(uint64_t table, int shard, uint32_t saves) {
  // One by one: who goes through a shard would pass each range that was ever
  // deleted.
  const RecordKey end = RecordKey::ofChange(table, shard, saves);
  const std::string_view behind(end.data(), end.size());
  WriteBatch *batch = own->library.batchCreate();
  bool isEmpty = true;
  own->forEach(Implementation::Changed, table, shard, [&](const Iterator *at) {
    size_t bytes = 0;
    const char *name = own->library.iteratorKey(at, &bytes);
    if (std::string_view(name, bytes) >= behind)
      return;
    own->library.batchDelete(batch, own->families[Implementation::Changed],
                             name, bytes);
    isEmpty = false;
  });
  char *error = nullptr;
  if (!isEmpty)
    own->library.write(own->database, own->unlogged, batch, &error);
  own->library.batchDestroy(batch);
  own->check(error, "written to");
}
