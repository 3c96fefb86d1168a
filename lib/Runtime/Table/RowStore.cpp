//===- RowStore.cpp - Blocks of rows on disk ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/RowStore.h"

#include "Table/RecentBlocks.h"
#include "Table/RocksLibrary.h"
#include "pdlrt/Core/BlockedSignals.h"
#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::rocks;

/// Ends of error messages that begin with "rows could not be".
static constexpr const char *readFrom = "read from", *writtenTo = "written to";

namespace {

/// Key of a block in RocksDB: table, shard and number, all big-endian. RocksDB
/// sorts keys by bytes, so blocks have this order.
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
  ReadOptions *reads = nullptr;
  WriteOptions *unlogged = nullptr;
  FlushOptions *waiting = nullptr;
  Database *database = nullptr;
  /// The only column family.
  Family *family = nullptr;

  RecentBlocks recent;
  /// Writes files in the background.
  std::thread writer;

  Implementation(const Library &library, size_t bufferBytes)
      : library(library), recent(bufferBytes) {}
  ~Implementation();
  Status open(size_t bufferBytes);
  /// Frees the text of a library's error and returns a copy; "" if there was no
  /// error.
  std::string take(char *error) const;
  void check(char *error, const char *doing) const {
    if (error)
      end(doing, take(error));
  }
  /// Ends the process if a block that was written earlier is missing or
  /// incomplete.
  void checkBlock(std::string_view block, size_t wanted) const {
    if (!block.data() || block.size() != wanted)
      end(readFrom, "a part of them is missing");
  }
  /// Writes the oldest unwritten blocks to a file.
  void write();
  void writeInBackground();
  /// Ends the process if a write has failed. If no files are needed any more,
  /// ignores errors and returns false; otherwise returns true.
  bool hasWritten(char *error) const;
  [[noreturn]] void end(const char *doing, const std::string &reason) const;
  [[noreturn]] void end(const Status &failure) const;
};

std::string RowStore::Implementation::take(char *error) const {
  if (!error)
    return {};
  std::string text = error;
  library.freeText(error);
  return text;
}

/// Ends the process with an error. It cannot continue, because rows are lost.
/// It cannot shut down gracefully either, because the caller has locked mutexes
/// that other threads wait for.
void RowStore::Implementation::end(const Status &failure) const {
  // Never unlocked: other threads that find the error wait here, so that it is
  // printed only once.
  static Mutex mutex;
  mutex.lock();
  std::_Exit(fail(failure));
}

void RowStore::Implementation::end(const char *doing,
                                   const std::string &reason) const {
  // If data was written but cannot be read back, it was damaged or removed, by
  // the disk or by another program.
  const bool isDamaged =
      reason.starts_with("Corruption") || std::string_view(doing) == readFrom;
  end({isDamaged ? PDL_DATA_LOSS : PDL_RESOURCE_EXHAUSTED,
       "rows could not be " + std::string(doing) + " " + folder +
           " (--table-spill): " + reason +
           "; go on from the last checkpoint, " +
           (isDamaged
                ? "with a folder on another disk: what is in this one was "
                  "damaged or removed"
                : "with a folder on a disk that has room")});
}

Status RowStore::Implementation::open(size_t bufferBytes) {
  constexpr int noCompression = 0, universalCompaction = 1;
  constexpr int errorsOnly = 3;
  constexpr int threads = 2;
  options = library.optionsCreate();
  library.setCreateIfMissing(options, 1);
  library.setErrorIfExists(options, 1);
  // Weights can hardly be compressed. Also, a block is written far more often
  // than it is merged with other blocks.
  library.setCompression(options, noCompression);
  library.setCompactionStyle(options, universalCompaction);
  // Each of our buffers goes through one buffer of RocksDB, which we flush.
  library.setWriteBufferSize(options, 2 * bufferBytes);
  library.increaseParallelism(options, threads);
  library.setMaxOpenFiles(options, -1);
  library.setInfoLogLevel(options, errorsOnly);
  library.setKeepLogFileNumber(options, 1);
  // Each requested key exists, but all files contain keys of the same range.
  // Without filters, a block would be read from each file that is newer than
  // the file with the requested block. With filters, many files cost little
  // time.
  constexpr double filterBits = 10;
  constexpr int filesToMerge = 8, filesToSlow = 64, filesToStop = 96;
  library.setFilesToMerge(options, filesToMerge);
  library.setFilesToSlow(options, filesToSlow);
  library.setFilesToStop(options, filesToStop);
  format = library.tableFormatCreate();
  library.setFilter(format, library.filterCreate(filterBits));
  // A block that was read is rarely needed again, because its row is in memory
  // then. The system caches blocks, too.
  library.setNoBlockCache(format, 1);
  library.setTableFormat(options, format);
  reads = library.readOptionsCreate();
  unlogged = library.writeOptionsCreate();
  library.disableLog(unlogged, 1);
  waiting = library.flushOptionsCreate();

  const char *const name = "default";
  const Options *const ofFamily = options;
  char *error = nullptr;
  database = library.open(options, (folder + "/rows").c_str(), 1, &name,
                          &ofFamily, &family, &error);
  if (error)
    return Status::ioError("rows cannot be kept in " + folder +
                           " (--table-spill): " + take(error) +
                           "; name a folder on a disk that can be written");
  const BlockedSignals blocked;
  writer = std::thread([this] { writeInBackground(); });
  return {};
}

RowStore::Implementation::~Implementation() {
  recent.end();
  // Cancel writes and merges, which are not needed any more.
  if (database)
    library.cancelBackgroundWork(database, 0);
  if (writer.joinable())
    writer.join();
  if (database) {
    library.cancelBackgroundWork(database, 1);
    library.familyDestroy(family);
    library.close(database);
  }
  if (reads)
    library.readOptionsDestroy(reads);
  if (unlogged)
    library.writeOptionsDestroy(unlogged);
  if (waiting)
    library.flushOptionsDestroy(waiting);
  if (format)
    library.tableFormatDestroy(format);
  if (options)
    library.optionsDestroy(options);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

static constexpr const char *prefixOfFolders = "pdl-rows-";

/// Removes the folders of processes that have ended.
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

Expected<std::shared_ptr<RowStore>> RowStore::open(const std::string &folder,
                                                   size_t bufferBytes) {
  const Expected<const Library *> library = openLibrary();
  if (!library)
    return library.status();
  auto own = std::make_unique<Implementation>(**library, bufferBytes);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error)
    removeLeftovers(folder);
  // Another process that starts at the same time may remove a folder without a
  // lock, because it looks like the folder of an ended process. So check that
  // the lock is still this process's own, and try again if not.
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
    // Some file systems have no locks; there, no process removes anything.
    isOwn = own->lock && own->lock.isOwn();
    if (!isOwn && reason != 0 && reason != EWOULDBLOCK && reason != ENOENT)
      error = std::error_code(reason, std::generic_category());
  }
  if (error)
    return Status::ofErrno(error.value(),
                           "rows cannot be kept in " + folder +
                               " (--table-spill): " + error.message() +
                               "; name a folder that can be written");
  PDLRT_RETURN_IF_ERROR(own->open(bufferBytes));
  return std::shared_ptr<RowStore>(new RowStore(std::move(own)));
}

RowStore::RowStore(std::unique_ptr<Implementation> implementation)
    : own(std::move(implementation)) {}

RowStore::~RowStore() = default;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

bool RowStore::Implementation::hasWritten(char *error) const {
  if (error && !recent.isEnding())
    end(writtenTo, take(error));
  take(error);
  return !recent.isEnding();
}

void RowStore::Implementation::write() {
  const TraceSpan span("write rows");
  char *error = nullptr;
  for (const auto &[table, name, bytes] : recent.oldest()) {
    const BlockKey key(table, name.shard, name.number);
    library.put(database, unlogged, key.data(), key.size(), bytes.data(),
                bytes.size(), &error);
    if (!hasWritten(error))
      return;
  }
  library.flush(database, waiting, &error);
  if (hasWritten(error))
    recent.noteWritten();
}

void RowStore::Implementation::writeInBackground() {
  try {
    Trace::nameThread("rows to disk");
    while (recent.waitForFull())
      write();
  } catch (const std::bad_alloc &) {
    end(Status::outOfMemory(
        "memory ran out while rows were written to " + folder +
        " (--table-spill); go on from the last checkpoint, with a lower "
        "--max-table-memory"));
  }
}

void RowStore::put(uint64_t table, int shard, uint32_t number,
                   std::string_view bytes) const {
  own->recent.put(table, shard, number, bytes);
}

void RowStore::get(
    uint64_t table, std::span<const BlockName> names, size_t bytes,
    const std::function<void(size_t, const char *)> &found) const {
  constexpr size_t atOnce = 64;
  std::array<std::string_view, atOnce> blocks;
  std::array<BlockKey, atOnce> keys;
  std::array<const char *, atOnce> pointers;
  std::array<size_t, atOnce> sizes;
  std::array<PinnedValue *, atOnce> values;
  std::array<char *, atOnce> problems;
  const Library &library = own->library;
  for (size_t begin = 0; begin < names.size(); begin += atOnce) {
    const std::span<const BlockName> some =
        names.subspan(begin, std::min(atOnce, names.size() - begin));
    blocks.fill({});
    const RecentBlocks::Held held =
        own->recent.find(table, some, blocks.data());
    size_t count = 0;
    for (size_t i = 0; i < some.size(); ++i) {
      if (blocks[i].data())
        continue;
      keys[count] = BlockKey(table, some[i].shard, some[i].number);
      pointers[count] = keys[count].data();
      sizes[count] = keys[count].size();
      values[count] = nullptr;
      problems[count++] = nullptr;
    }
    // Owns the values, because `found` may throw, and then they must be freed.
    std::vector<std::unique_ptr<PinnedValue, void (*)(PinnedValue *)>> owned;
    owned.reserve(count);
    if (count > 0)
      library.multiGet(own->database, own->reads, own->family, count,
                       pointers.data(), sizes.data(), values.data(),
                       problems.data(), /*sorted_input=*/true);
    for (size_t i = 0; i < count; ++i)
      owned.emplace_back(values[i], library.pinnedDestroy);
    for (size_t i = 0, asked = 0; i < some.size(); ++i) {
      if (!blocks[i].data()) {
        own->check(problems[asked], readFrom);
        if (const PinnedValue *value = owned[asked++].get()) {
          size_t size = 0;
          const char *block = library.pinnedValue(value, &size);
          blocks[i] = {block, size};
        }
      }
      own->checkBlock(blocks[i], bytes);
      found(begin + i, blocks[i].data());
    }
  }
}

struct RowStore::Reader::Implementation {
  const RowStore::Implementation &store;
  const uint64_t table;
  const int shard;
  const size_t bytes;
  const BlockKey end;
  RecentBlocks::Held held;
  /// Blocks that were in memory before the iterator was created. Blocks that
  /// are written to a file in between are found here and by the iterator.
  const RecentBlocks::Numbered recent;
  ReadOptions *options = nullptr;
  Iterator *iterator = nullptr;

  Implementation(const RowStore &rows, uint64_t table, int shard, size_t bytes)
      : store(*rows.own), table(table), shard(shard), bytes(bytes),
        end(table, shard + 1),
        recent(store.recent.ofShard(table, shard, held)) {
    // Everything is read.
    constexpr size_t readaheadBytes = size_t(256) << 10;
    const Library &library = store.library;
    options = library.readOptionsCreate();
    library.setUpperBound(options, end.data(), end.size());
    library.setReadahead(options, readaheadBytes);
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
  if (const auto found = own->recent.find(number); found != own->recent.end()) {
    own->store.checkBlock(found->second, own->bytes);
    return found->second.data();
  }
  const Library &library = own->store.library;
  const BlockKey key(own->table, own->shard, number);
  if (library.iteratorValid(own->iterator))
    library.iteratorNext(own->iterator);
  if (!own->isAt(key))
    library.iteratorSeek(own->iterator, key.data(), key.size());
  char *error = nullptr;
  library.iteratorError(own->iterator, &error);
  own->store.check(error, readFrom);
  size_t size = 0;
  const char *block =
      own->isAt(key) ? library.iteratorValue(own->iterator, &size) : nullptr;
  own->store.checkBlock({block, size}, own->bytes);
  return block;
}
