//===- CacheFile.cpp - The parsed rows of a data file ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CacheFile.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <type_traits>
#include <unistd.h>
#include <xxhash.h>

using namespace pdlrt;

namespace {

/// The last bytes of a file.
struct Trailer {
  char mark[8];
  uint32_t version;
  uint32_t hasPreface;
  CacheKey key;
  uint64_t preface;
  int64_t rows;
  /// Size and number of the blocks. They are followed by `blocks` places;
  /// `placeSum` is their checksum.
  uint64_t blockBytes, blocks, placeSum;
  /// Checksum of all fields above.
  uint64_t sum;
};
static_assert(std::has_unique_object_representations_v<Trailer>);

constexpr char cacheMark[8] = {'P', 'D', 'L', 'C', 'A', 'C', 'H', 'E'};

uint64_t sumOf(const Trailer &trailer) {
  return XXH3_64bits(&trailer, offsetof(Trailer, sum));
}

} // namespace

std::unique_ptr<CacheFile> CacheFile::open(const std::string &path,
                                           const CacheKey &key) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  std::unique_ptr<CacheFile> cache(new CacheFile(path));
  struct stat found;
  if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
      found.st_size > 0) {
    const auto size = size_t(found.st_size);
    void *mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) {
      cache->bytes = static_cast<const std::byte *>(mapped);
      cache->size = size;
    }
  }
  ::close(file);
  return cache->bytes && cache->find(key) ? std::move(cache) : nullptr;
}

CacheFile::~CacheFile() {
  if (bytes)
    ::munmap(const_cast<std::byte *>(bytes), size); // NOLINT
}

/// Finds the blocks. Returns false if the file does not match the key.
bool CacheFile::find(const CacheKey &key) {
  Trailer trailer;
  if (size < sizeof(trailer) || size % sizeof(uint64_t) != 0)
    return false;
  const size_t before = size - sizeof(trailer);
  std::memcpy(&trailer, bytes + before, sizeof(trailer));
  if (std::memcmp(trailer.mark, cacheMark, sizeof(cacheMark)) != 0 ||
      trailer.version != cacheVersion || trailer.sum != sumOf(trailer) ||
      trailer.key != key || trailer.blockBytes > before ||
      trailer.blockBytes % sizeof(uint64_t) != 0 ||
      trailer.blocks != (before - trailer.blockBytes) / sizeof(CachePlace) ||
      (before - trailer.blockBytes) % sizeof(CachePlace) != 0)
    return false;
  blockBytes = trailer.blockBytes;
  blocks = size_t(trailer.blocks);
  places = reinterpret_cast<const CachePlace *>(bytes + blockBytes); // NOLINT
  rows = trailer.rows;
  if (trailer.hasPreface)
    header = trailer.preface;
  if (trailer.placeSum != XXH3_64bits(places, blocks * sizeof(CachePlace)))
    return false;
  CachePlace last = {0, 0};
  for (size_t b = 0; b < blocks; ++b) {
    const CachePlace &place = places[b];
    const bool ascends =
        b == 0 ? place.offset == 0 && place.row == 0
               : place.offset > last.offset && place.row > last.row;
    if (!ascends || place.offset % sizeof(uint64_t) != 0)
      return false;
    last = place;
  }
  return blocks == 0 ? rows == 0 && blockBytes == 0
                     : last.offset < blockBytes && last.row < rows;
}

size_t CacheFile::blockOf(int64_t row) const {
  const CachePlace *following =
      std::upper_bound(places, places + blocks, row,
                       [](int64_t wanted, const CachePlace &place) {
                         return wanted < place.row;
                       });
  return size_t(following - places) - 1;
}

std::span<const std::byte> CacheFile::block(size_t block) const {
  const auto endOf = [&](size_t b) {
    return b + 1 < blocks ? places[b + 1].offset : blockBytes;
  };
  const uint64_t begin = places[block].offset, end = endOf(block);
  if (block + 1 < blocks) {
    // Pages begin at multiples of their size. This is only a hint; failures are
    // ignored.
    static const auto page = uint64_t(::sysconf(_SC_PAGESIZE));
    const uint64_t from = end / page * page;
    ::madvise(const_cast<std::byte *>(bytes + from), // NOLINT
              size_t(endOf(block + 1) - from), MADV_WILLNEED);
  }
  return {bytes + begin, size_t(end - begin)};
}

/// Removes unfinished files. The caller holds the lock, so no other process is
/// writing them.
static void removeUnfinished(const std::string &path) {
  const std::filesystem::path whole(path);
  const std::string begin = whole.filename().string() + ".tmp.";
  std::error_code error;
  std::filesystem::directory_iterator entry(whole.parent_path(), error), end;
  while (!error && entry != end) {
    const std::filesystem::path found = entry->path();
    entry.increment(error);
    std::error_code ignored;
    if (found.filename().string().starts_with(begin))
      std::filesystem::remove(found, ignored);
  }
}

Expected<std::unique_ptr<CacheWriter>>
CacheWriter::create(const std::string &path, const CacheKey &key) {
  int reason = 0;
  LockFile lock = LockFile::take(path + ".lock", reason);
  if (reason == EWOULDBLOCK)
    return std::unique_ptr<CacheWriter>();
  if (reason != 0)
    return Status::ofErrno(
        reason, path + ".lock: cannot be locked: " + std::strerror(reason) +
                    "; give --cache a folder that may be written, of a "
                    "file system with locks");
  removeUnfinished(path);
  std::unique_ptr<CacheWriter> writer(
      new CacheWriter(path, key, std::move(lock)));
  PDLRT_RETURN_IF_ERROR(writer->file.create());
  return writer;
}

Status CacheWriter::add(std::span<const std::byte> block, int64_t rowCount) {
  places.push_back({written, rows});
  written += block.size();
  rows += rowCount;
  return file.write(block.data(), block.size());
}

Status CacheWriter::finish(const std::optional<uint64_t> &preface) {
  Trailer trailer = {};
  std::memcpy(trailer.mark, cacheMark, sizeof(cacheMark));
  trailer.version = cacheVersion;
  trailer.hasPreface = preface.has_value();
  trailer.key = key;
  trailer.preface = preface.value_or(0);
  trailer.rows = rows;
  trailer.blockBytes = written;
  trailer.blocks = places.size();
  const size_t placeBytes = places.size() * sizeof(CachePlace);
  trailer.placeSum = XXH3_64bits(places.data(), placeBytes);
  trailer.sum = sumOf(trailer);
  PDLRT_RETURN_IF_ERROR(file.write(places.data(), placeBytes));
  PDLRT_RETURN_IF_ERROR(file.write(&trailer, sizeof(trailer)));
  return file.commit();
}
