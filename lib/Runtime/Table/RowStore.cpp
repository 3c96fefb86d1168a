//===- RowStore.cpp - Blocks of rows in a folder --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/RowStore.h"

#include "Table/RocksLibrary.h"
#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/ProgramMain.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::rocks;

namespace {

/// RocksDB orders keys by bytes: the table, the shard, and the number, each
/// with the highest byte first.
class BlockKey {
public:
  BlockKey() = default;
  BlockKey(uint64_t table, int shard) {
    put(table, 8);
    put(uint64_t(shard), 2);
  }
  BlockKey(uint64_t table, int shard, uint32_t number)
      : BlockKey(table, shard) {
    put(number, 4);
  }
  const char *data() const { return bytes.data(); }
  size_t size() const { return length; }
  std::string_view text() const { return {data(), size()}; }

private:
  void put(uint64_t number, size_t count) {
    while (count-- > 0)
      bytes[length++] = char(number >> 8 * count);
  }

  std::array<char, 14> bytes;
  size_t length = 0;
};

} // namespace

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
  /// The only one.
  Family *family = nullptr;

  explicit Implementation(const Library &library) : library(library) {}
  ~Implementation();
  Status open();
  /// Takes the text of an error; empty: there was none.
  std::string take(char *error) const;
  void check(char *error, const char *doing) const {
    if (error)
      end(doing, take(error));
  }
  /// Of a block that was written.
  void checkBlock(const char *block, size_t bytes, size_t wanted) const {
    if (!block || bytes != wanted)
      end("read from", "a part of them is missing");
  }
  [[noreturn]] void end(const char *doing, const std::string &reason) const;
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
void RowStore::Implementation::end(const char *doing,
                                   const std::string &reason) const {
  // Others who find it wait for the end: it is said once.
  static std::mutex mutex;
  mutex.lock();
  std::_Exit(fail(1, "rows could not be " + std::string(doing) + " " + folder +
                         " (--table-spill): " + reason +
                         "; go on from the last checkpoint, with a folder on a "
                         "disk that has room"));
}

Status RowStore::Implementation::open() {
  // Most of what a process keeps of its rows elsewhere: what is written and
  // not yet on the disk, and blocks that were read.
  constexpr size_t writeBufferBytes = size_t(32) << 20;
  constexpr size_t cacheBytes = size_t(64) << 20;
  constexpr int writeBuffers = 3;
  constexpr int noCompression = 0, universalCompaction = 1;
  constexpr int errorsOnly = 3;
  constexpr int threads = 2;
  options = library.optionsCreate();
  library.setCreateIfMissing(options, 1);
  library.setErrorIfExists(options, 1);
  // Weights hardly become smaller; and a block is written far more often than
  // it is merged with others.
  library.setCompression(options, noCompression);
  library.setCompactionStyle(options, universalCompaction);
  library.setWriteBufferSize(options, writeBufferBytes);
  library.setMaxWriteBufferNumber(options, writeBuffers);
  library.increaseParallelism(options, threads);
  library.setMaxOpenFiles(options, -1);
  library.setInfoLogLevel(options, errorsOnly);
  library.setKeepLogFileNumber(options, 1);
  // No filters: nobody asks for what is not there.
  format = library.tableFormatCreate();
  cache = library.cacheCreate(cacheBytes);
  library.setBlockCache(format, cache);
  library.setTableFormat(options, format);
  unlogged = library.writeOptionsCreate();
  library.disableLog(unlogged, 1);
  reads = library.readOptionsCreate();

  const char *const name = "default";
  const Options *const ofFamily = options;
  char *error = nullptr;
  database = library.open(options, (folder + "/rows").c_str(), 1, &name,
                          &ofFamily, &family, &error);
  if (error)
    return Status::invalid("rows cannot be kept in " + folder +
                           " (--table-spill): " + take(error) +
                           "; name a folder on a disk that can be written");
  return {};
}

RowStore::Implementation::~Implementation() {
  if (database) {
    library.cancelBackgroundWork(database, 1);
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
// Blocks
//===----------------------------------------------------------------------===//

void RowStore::put(uint64_t table, int shard, uint32_t number,
                   std::string_view bytes) const {
  const BlockKey key(table, shard, number);
  char *error = nullptr;
  own->library.put(own->database, own->unlogged, key.data(), key.size(),
                   bytes.data(), bytes.size(), &error);
  own->check(error, "written to");
}

void RowStore::get(
    uint64_t table, std::span<const BlockName> names, size_t bytes,
    const std::function<void(size_t, const char *)> &found) const {
  constexpr size_t atOnce = 64;
  std::array<BlockKey, atOnce> keys;
  std::array<const char *, atOnce> pointers;
  std::array<size_t, atOnce> sizes;
  std::array<PinnedValue *, atOnce> values;
  std::array<char *, atOnce> problems;
  const Library &library = own->library;
  for (size_t begin = 0; begin < names.size(); begin += atOnce) {
    const size_t count = std::min(atOnce, names.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      const BlockName &name = names[begin + i];
      keys[i] = BlockKey(table, name.shard, name.number);
      pointers[i] = keys[i].data();
      sizes[i] = keys[i].size();
      values[i] = nullptr;
      problems[i] = nullptr;
    }
    library.multiGet(own->database, own->reads, own->family, count,
                     pointers.data(), sizes.data(), values.data(),
                     problems.data(), /*sorted_input=*/true);
    // Who is told of a block may throw.
    std::vector<std::unique_ptr<PinnedValue, void (*)(PinnedValue *)>> owned;
    owned.reserve(count);
    for (size_t i = 0; i < count; ++i)
      owned.emplace_back(values[i], library.pinnedDestroy);
    for (size_t i = 0; i < count; ++i) {
      own->check(problems[i], "read from");
      size_t size = 0;
      const char *block =
          owned[i] ? library.pinnedValue(owned[i].get(), &size) : nullptr;
      own->checkBlock(block, size, bytes);
      found(begin + i, block);
    }
  }
}

struct RowStore::Reader::Implementation {
  const RowStore::Implementation &store;
  const uint64_t table;
  const int shard;
  const size_t bytes;
  const BlockKey end;
  ReadOptions *options = nullptr;
  Iterator *iterator = nullptr;

  Implementation(const RowStore &rows, uint64_t table, int shard, size_t bytes)
      : store(*rows.own), table(table), shard(shard), bytes(bytes),
        end(table, shard + 1) {
    // All of it is read, once: the cache is for rows that are asked for.
    constexpr size_t readaheadBytes = size_t(256) << 10;
    const Library &library = store.library;
    options = library.readOptionsCreate();
    library.setUpperBound(options, end.data(), end.size());
    library.setReadahead(options, readaheadBytes);
    library.setFillCache(options, 0);
    iterator = library.iteratorCreate(store.database, options, store.family);
  }
  ~Implementation() {
    store.library.iteratorDestroy(iterator);
    store.library.readOptionsDestroy(options);
  }
  bool isAt(const BlockKey &key) const {
    if (!store.library.iteratorValid(iterator))
      return false;
    size_t size = 0;
    const char *name = store.library.iteratorKey(iterator, &size);
    return std::string_view(name, size) == key.text();
  }
};

RowStore::Reader::Reader(const RowStore &store, uint64_t table, int shard,
                         size_t bytes)
    : own(std::make_unique<Implementation>(store, table, shard, bytes)) {}

RowStore::Reader::~Reader() = default;

const char *RowStore::Reader::at(uint32_t number) {
  const Library &library = own->store.library;
  const BlockKey key(own->table, own->shard, number);
  if (library.iteratorValid(own->iterator))
    library.iteratorNext(own->iterator);
  if (!own->isAt(key))
    library.iteratorSeek(own->iterator, key.data(), key.size());
  char *error = nullptr;
  library.iteratorError(own->iterator, &error);
  own->store.check(error, "read from");
  size_t size = 0;
  const char *block =
      own->isAt(key) ? library.iteratorValue(own->iterator, &size) : nullptr;
  own->store.checkBlock(block, size, own->bytes);
  return block;
}
