//===- FrozenTable.cpp - Read-only table in one block ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/FrozenTable.h"

#include "Files/TemporaryFile.h"
#include "pdlabi/hash.h"
#include "pdlrt/Files/FileBytes.h"
#include "pdlrt/Files/FileCache.h"
#include "pdlrt/Table/FrozenRows.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

FrozenRows::~FrozenRows() = default;

/// Average number of keys per bucket. It is so low that only few searches
/// continue in the next bucket.
static constexpr size_t keysOnAverage = 5;

static char placeOfRemoved;
void *const FrozenTable::removedRow = &placeOfRemoved;

size_t FrozenTable::bucketOf(int64_t key) const {
  return size_t((static_cast<unsigned __int128>(pdlabi::mixKey(uint64_t(key))) *
                 bucketCount) >>
                64);
}

size_t FrozenTable::memoryBytes() const {
  return allBuckets * sizeof(Bucket) + size_t(rowCount) * bytesOfRow;
}

Expected<FrozenTable> FrozenTable::build(const std::vector<int64_t> &keys,
                                         size_t rowBytes,
                                         std::vector<uint64_t> &places,
                                         size_t removed) {
  FrozenTable table;
  table.bytesOfRow = rowBytes;
  table.rowCount = int64_t(keys.size());
  table.hasRemoved = removed > 0;
  places.resize(keys.size());
  if (keys.empty())
    return table;
  table.bucketCount = (keys.size() + keysOnAverage - 1) / keysOnAverage;
  // Assign keys to buckets: first counts, then positions.
  std::vector<uint64_t> begins(table.bucketCount + 1);
  for (int64_t key : keys)
    ++begins[table.bucketOf(key) + 1];
  for (size_t b = 0; b < table.bucketCount; ++b)
    begins[b + 1] += begins[b];
  std::vector<uint64_t> order(keys.size()),
      next(begins.begin(), begins.end() - 1);
  for (size_t i = 0; i < keys.size(); ++i)
    order[next[table.bucketOf(keys[i])]++] = i;
  // Keys are in the order of their buckets. If a bucket overflows, its last
  // keys are the first ones in the next bucket.
  std::vector<Bucket> buckets;
  buckets.reserve(table.bucketCount + 8);
  for (size_t done = 0;
       done < order.size() || buckets.size() < table.bucketCount;) {
    Bucket &bucket = buckets.emplace_back();
    bucket = {};
    bucket.firstRow = done;
    const size_t b = buckets.size() - 1;
    const size_t end = b < table.bucketCount ? begins[b + 1] : order.size();
    const size_t count = std::min(end - done, Bucket::keyCount);
    for (size_t i = 0; i < count; ++i) {
      bucket.keys[i] = keys[order[done + i]];
      if (order[done + i] >= keys.size() - removed)
        bucket.removed |= uint64_t(1) << i;
    }
    bucket.count = count;
    bucket.goesOn = done + count < end;
    done += count;
  }
  table.allBuckets = buckets.size();
  // Equal keys belong to the same bucket.
  std::vector<int64_t> sorted;
  for (size_t b = 0; b < table.bucketCount; ++b) {
    sorted.clear();
    for (uint64_t i = begins[b]; i < begins[b + 1]; ++i)
      sorted.push_back(keys[order[i]]);
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted);
        twice != sorted.end())
      return Status::invalidArgument("key " + std::to_string(*twice) +
                                     " is there twice; keep one row of each");
  }
  auto *ownBuckets = table.bucketMemory.reserveFor<Bucket>(buckets.size());
  std::memcpy(ownBuckets, buckets.data(), buckets.size() * sizeof(Bucket));
  table.buckets = ownBuckets;
  table.rows = static_cast<const char *>(
      table.rowMemory.reserve(keys.size() * rowBytes));
  for (size_t place = 0; place < order.size(); ++place)
    places[order[place]] = place;
  return table;
}

int64_t FrozenTable::find(int64_t count, const int64_t *keys,
                          void **found) const {
  // Distance of prefetches, so that memory has responded in time.
  constexpr int64_t ahead = 8;
  if (rowCount == 0)
    return std::count(found, found + count, nullptr);
  const Bucket *const end = buckets + allBuckets;
  for (int64_t i = 0; i < std::min(ahead, count); ++i)
    __builtin_prefetch(buckets + bucketOf(keys[i]));
  int64_t missing = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i + ahead < count)
      __builtin_prefetch(buckets + bucketOf(keys[i + ahead]));
    if (found[i])
      continue;
    for (const Bucket *bucket = buckets + bucketOf(keys[i]); bucket < end;
         ++bucket) {
      for (size_t k = 0; k < bucket->count; ++k)
        if (bucket->keys[k] == keys[i] && hasRemoved &&
            (bucket->removed >> k & 1)) {
          found[i] = removedRow;
        } else if (bucket->keys[k] == keys[i]) {
          // In a damaged file, a bucket may contain any row number.
          const uint64_t row =
              std::min(bucket->firstRow + k, uint64_t(rowCount) - 1);
          found[i] = const_cast<char *>(rows + row * bytesOfRow);
        }
      if (found[i] || !bucket->goesOn)
        break;
    }
    if (found[i])
      __builtin_prefetch(found[i]);
    else
      ++missing;
  }
  return missing;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

/// Header of a file. It describes the content and gives the offsets of its
/// parts.
struct FileHead {
  char name[8]; ///< "PDLROWS1"
  uint64_t bucketCount, allBuckets, rowCount, rowBytes;
  uint64_t rowsBegin, fileBytes;
  uint64_t bucketsHash, rowsHash; ///< of all buckets, and of all rows
  uint64_t unused[6];
  uint64_t hash; ///< of all preceding bytes
};
static_assert(sizeof(FileHead) == 128);

constexpr char headName[] = "PDLROWS1";

} // namespace

static uint64_t hashOf(const FileHead &head) {
  return hashBytes(&head, offsetof(FileHead, hash));
}

/// Returns the header of a file if it is consistent.
static Expected<FileHead> readHead(const FileBytes &file, size_t bucketBytes) {
  const auto refuse = [&](const std::string &why) {
    return Status::dataLoss(file.path() + ": " + why +
                            "; export the checkpoint again");
  };
  FileHead head = {};
  if (file.size() < sizeof(head))
    return refuse("is too short for a table");
  PDLRT_RETURN_IF_ERROR(file.readAt(0, sizeof(head), &head));
  if (std::memcmp(head.name, headName, sizeof(head.name)) != 0)
    return refuse("is no table that was exported to be mapped");
  if (head.hash != hashOf(head))
    return refuse("is damaged: its first bytes have another checksum");
  unsigned __int128 rowsBegin = sizeof(head);
  rowsBegin += static_cast<unsigned __int128>(head.allBuckets) * bucketBytes;
  const unsigned __int128 end =
      rowsBegin + static_cast<unsigned __int128>(head.rowCount) * head.rowBytes;
  if (head.bucketCount > head.allBuckets ||
      (head.bucketCount == 0) != (head.rowCount == 0) ||
      (head.bucketCount == 0) != (head.allBuckets == 0) ||
      rowsBegin != head.rowsBegin || end != head.fileBytes)
    return refuse("is damaged: its first bytes contradict each other");
  if (file.size() != head.fileBytes)
    return refuse("has " + std::to_string(file.size()) + " bytes, not " +
                  std::to_string(head.fileBytes));
  return head;
}

/// Returns a copy of a file in an object store; null for a file of this host.
static Expected<std::shared_ptr<const CachedCopy>>
copyIfStored(const std::string &path) {
  if (!isInObjectStore(path))
    return std::shared_ptr<const CachedCopy>();
  const auto info = pinnedInfo(path);
  PDLRT_RETURN_IF_ERROR(info.status());
  const auto cache = processFileCache();
  PDLRT_RETURN_IF_ERROR(cache.status());
  return (*cache)->fetch(*info);
}

static Expected<FileBytes> openExported(const std::string &path) {
  if (::access(path.c_str(), R_OK) != 0)
    return Status::ofErrno(
        errno, path + ": cannot be opened: " + std::strerror(errno) +
                   "; export the checkpoint again");
  return FileBytes::open(path,
                         "name a file that `pdl-checkpoint export` wrote");
}

Expected<FrozenTable> FrozenTable::map(const std::string &path, size_t rowBytes,
                                       const FileDigest &digest) {
  auto copy = copyIfStored(path);
  PDLRT_RETURN_IF_ERROR(copy.status());
  Expected<FileBytes> file = openExported(*copy ? (*copy)->path() : path);
  if (!file)
    return std::move(file).status();
  Expected<FileHead> head = readHead(*file, sizeof(Bucket));
  if (!head)
    return std::move(head).status();
  if (digest != FileDigest{head->fileBytes, head->hash})
    return Status::dataLoss(path +
                            ": is not the file that its export names, but "
                            "of another table or export; export the "
                            "checkpoint again");
  if (head->rowBytes != rowBytes)
    return Status::failedPrecondition(
        path + ": has rows of " + std::to_string(head->rowBytes) +
        " bytes, but the program reads " + std::to_string(rowBytes) +
        "; export a checkpoint of its model");
  FrozenTable table;
  table.bytesOfRow = rowBytes;
  table.rowCount = int64_t(head->rowCount);
  table.bucketCount = head->bucketCount;
  table.allBuckets = head->allBuckets;
  Expected<std::shared_ptr<const void>> memory = file->map();
  if (!memory)
    return std::move(memory).status();
  table.mapping = *std::move(memory);
  if (*copy) {
    // The copy is in use as long as it is mapped.
    const void *const first = table.mapping.get();
    auto both = std::make_shared<std::pair<std::shared_ptr<const CachedCopy>,
                                           std::shared_ptr<const void>>>(
        *std::move(copy), std::move(table.mapping));
    table.mapping = {std::move(both), first};
  }
  const auto *begin = static_cast<const char *>(table.mapping.get());
  table.buckets = reinterpret_cast<const Bucket *>(begin + sizeof(FileHead));
  table.rows = begin + head->rowsBegin;
  return table;
}

Status FrozenTable::write(const std::string &path, FileDigest &digest) const {
  FileHead head = {};
  std::memcpy(head.name, headName, sizeof(head.name));
  head.bucketCount = bucketCount;
  head.allBuckets = allBuckets;
  head.rowCount = uint64_t(rowCount);
  head.rowBytes = bytesOfRow;
  head.rowsBegin = sizeof(head) + allBuckets * sizeof(Bucket);
  head.fileBytes = head.rowsBegin + uint64_t(rowCount) * bytesOfRow;
  head.bucketsHash = hashBytes(buckets, allBuckets * sizeof(Bucket));
  head.rowsHash = hashBytes(rows, size_t(rowCount) * bytesOfRow);
  head.hash = hashOf(head);
  digest = {head.fileBytes, head.hash};
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  PDLRT_RETURN_IF_ERROR(file.write(&head, sizeof(head)));
  PDLRT_RETURN_IF_ERROR(file.write(buckets, allBuckets * sizeof(Bucket)));
  PDLRT_RETURN_IF_ERROR(file.write(rows, size_t(rowCount) * bytesOfRow));
  return file.commit();
}

Status FrozenTable::verify(const std::string &path, const FileDigest &digest) {
  const auto copy = copyIfStored(path);
  PDLRT_RETURN_IF_ERROR(copy.status());
  Expected<FileBytes> file = openExported(*copy ? (*copy)->path() : path);
  if (!file)
    return std::move(file).status();
  Expected<FileHead> head = readHead(*file, sizeof(Bucket));
  if (!head)
    return std::move(head).status();
  Expected<FrozenTable> table = map(path, head->rowBytes, digest);
  if (!table)
    return std::move(table).status();
  if (hashBytes(table->buckets, head->allBuckets * sizeof(Bucket)) !=
          head->bucketsHash ||
      hashBytes(table->rows, head->rowCount * head->rowBytes) != head->rowsHash)
    return Status::dataLoss(path + ": is damaged: it has another checksum than "
                                   "it says; export the checkpoint again");
  return {};
}
