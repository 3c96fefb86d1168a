//===- BlockCache.cpp - Keeps blocks of stored files in memory ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/BlockCache.h"

#include "pdlrt/Core/Mutex.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

using namespace pdlrt;

static constexpr uint64_t cachedBlockBytes = uint64_t(4) << 20;
static constexpr size_t maxCachedBlocks = 32;

namespace {

/// A block that one thread requests while others that need it wait.
struct CachedBlock {
  Mutex mutex;
  std::string bytes PDLRT_GUARDED_BY(mutex);
};

/// The blocks of all files.
class BlockCache {
public:
  /// Number of a file and number of a block in it.
  using Key = std::pair<uint64_t, uint64_t>;

  std::shared_ptr<CachedBlock> find(const Key &key);
  void drop(uint64_t file);
  uint64_t nextFile() {
    const MutexLock lock(mutex);
    return files++;
  }

private:
  using Order = std::list<Key>;
  struct Entry {
    std::shared_ptr<CachedBlock> block;
    Order::iterator place;
  };
  Mutex mutex;
  uint64_t files PDLRT_GUARDED_BY(mutex) = 0;
  /// The block that was used last is the first.
  Order order PDLRT_GUARDED_BY(mutex);
  std::map<Key, Entry> entries PDLRT_GUARDED_BY(mutex);
};

class CachedFile final : public StoredFile {
public:
  explicit CachedFile(std::shared_ptr<const StoredFile> file);
  ~CachedFile() override;
  const StoredFileInfo &info() const override { return file->info(); }
  Status readAt(uint64_t offset, size_t count, void *out,
                const std::atomic<bool> *cancel) const override;

private:
  const std::shared_ptr<const StoredFile> file;
  const uint64_t number;
};

} // namespace

/// Never destroyed: other threads may use it while the process ends.
static BlockCache &blockCache() {
  static auto *cache = new BlockCache;
  return *cache;
}

/// Returns the block, which may not have its bytes yet.
std::shared_ptr<CachedBlock> BlockCache::find(const Key &key) {
  const MutexLock lock(mutex);
  if (const auto found = entries.find(key); found != entries.end()) {
    order.splice(order.begin(), order, found->second.place);
    return found->second.block;
  }
  if (entries.size() >= maxCachedBlocks) {
    entries.erase(order.back());
    order.pop_back();
  }
  order.push_front(key);
  auto block = std::make_shared<CachedBlock>();
  entries.emplace(key, Entry{block, order.begin()});
  return block;
}

void BlockCache::drop(uint64_t file) {
  const MutexLock lock(mutex);
  const auto first = entries.lower_bound({file, 0});
  auto end = first;
  for (; end != entries.end() && end->first.first == file; ++end)
    order.erase(end->second.place);
  entries.erase(first, end);
}

CachedFile::CachedFile(std::shared_ptr<const StoredFile> file)
    : file(std::move(file)), number(blockCache().nextFile()) {}

CachedFile::~CachedFile() { blockCache().drop(number); }

Status CachedFile::readAt(uint64_t offset, size_t count, void *out,
                          const std::atomic<bool> *cancel) const {
  if (count >= cachedBlockBytes)
    return file->readAt(offset, count, out, cancel);
  auto *next = static_cast<char *>(out);
  while (count > 0) {
    const uint64_t index = offset / cachedBlockBytes;
    const uint64_t begin = index * cachedBlockBytes;
    const std::shared_ptr<CachedBlock> block =
        blockCache().find({number, index});
    const MutexLock lock(block->mutex);
    if (block->bytes.empty()) {
      std::string bytes(std::min(cachedBlockBytes, file->info().bytes - begin),
                        '\0');
      PDLRT_RETURN_IF_ERROR(
          file->readAt(begin, bytes.size(), bytes.data(), cancel));
      block->bytes = std::move(bytes);
    }
    const size_t some =
        std::min<uint64_t>(count, begin + block->bytes.size() - offset);
    std::copy_n(block->bytes.data() + (offset - begin), some, next);
    next += some;
    offset += some;
    count -= some;
  }
  return {};
}

std::shared_ptr<const StoredFile>
pdlrt::cacheBlocks(std::shared_ptr<const StoredFile> file) {
  return std::make_shared<CachedFile>(std::move(file));
}
